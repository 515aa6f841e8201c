"""For tests of libtimebase-rcl: a publisher process on a page of this test."""
import os
import subprocess


class Publisher:
    def __init__(self, program, name):
        self.name = name
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        self.process = subprocess.Popen([program, name], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, env=environment)
        assert self.process.stdout.readline() == "open\n"

    def publish(self, time_ns):
        self.process.stdin.write(f"{time_ns}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def start_jumps(self):
        """Until it is closed."""
        self.process.stdin.write("jumps\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0
        self.process.stdout.close()


def remove_page(name):
    """And what is beside it."""
    for file in os.listdir("/dev/shm"):
        if file.startswith("timebase") and file.endswith(f".{name}"):
            os.unlink(os.path.join("/dev/shm", file))
