import sys

from dialogauge.cli.main import main

sys.exit(main())
