"""What people would say of all turns, from ratings of some of them and a metric on all."""
