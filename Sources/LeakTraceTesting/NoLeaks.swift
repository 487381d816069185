import LeakTrace
