from dialogauge.cli.entry import start

start()
