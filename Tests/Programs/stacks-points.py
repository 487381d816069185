# Read by gdb: stops at each call of stacks_point and writes "mark SIZE PC PC …" as stacks_report does.
import gdb

gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set breakpoint pending on")
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set print thread-events off")


class Point(gdb.Breakpoint):
    def stop(self):
        frame = gdb.newest_frame()
        size = int(frame.read_register("rdi"))
        addresses = []
        frame = frame.older()
        while frame is not None:
            # An inlined call has no frame of its own: its address is the address of the frame that contains it.
            if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
                addresses.append("%x" % frame.pc())
            frame = frame.older()
        output.write("mark %d %s\n" % (size, " ".join(addresses)))
        return False


output = open(marks_path, "w")
Point("*stacks_point")
gdb.execute("run")
output.close()
