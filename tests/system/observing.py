"""Publishers with faults, for the commands that observe them."""

import subprocess

from command_test import CommandTest, Process

PEER = None


class ObservingTest(CommandTest):
    def peer(self, *commands, **environment):
        process = Process(self, [PEER], {**self.environment, **environment}, subprocess.PIPE)
        process.expect("ready")
        self.tell(process, *commands)
        return process

    def tell(self, peer, *commands):
        for command in commands:
            peer.write(command)
            peer.expect("done")
