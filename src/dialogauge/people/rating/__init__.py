"""A rating study, all but its pages: who rates what, what was answered, what can be trusted, what comes out."""
