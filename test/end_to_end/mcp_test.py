"""Tests `warplens mcp` with a recorded session: what a client sends, and the part of each answer that does not depend on figures."""

import json
import pathlib
import subprocess
import tempfile
import threading
import unittest

import warplens_tool

COPY = """#include <cstdlib>
__global__ void copy(const float* from, float* to, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  i = INDEX;
  if (i < n)
    to[i] = from[i];
}
int main(int, char** arguments) {
  unsigned n = 64 * atoi(arguments[1]);
  float *from, *to;
  cudaMalloc(&from, 4 * n);
  cudaMalloc(&to, 4 * n);
  copy<<<n / 256, 256>>>(from, to, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
READS = "#include <cstdio>\n__global__ void k(float* a) { *a = 1; }\nint main() { while (getchar() != EOF); }\n"
HANGS = "#include <unistd.h>\n__global__ void k(float* a) { *a = 1; }\nint main() { for (;;) sleep(1); }\n"


class Session:
    """A server in a folder, and its answers, line by line."""

    def __init__(self, folder):
        self.process = subprocess.Popen([warplens_tool.tool, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=folder)
        self.alarm = threading.Timer(300, self.process.kill)  # a server that does not answer fails the test
        self.alarm.start()

    def send(self, message):
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def close(self):
        output, errors = self.process.communicate(timeout=60)
        self.alarm.cancel()
        return output, errors, self.process.returncode


class Mcp(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "strided.cu").write_text(COPY.replace("INDEX", "i % 64 * (n / 64) + i / 64"))
        (self.folder / "coalesced.cu").write_text(COPY.replace("INDEX", "i"))
        (self.folder / "broken.cu").write_text("__global__ void k( {}\n")
        (self.folder / "hangs.cu").write_text(HANGS)
        (self.folder / "reads.cu").write_text(READS)
        self.session = Session(self.folder)

    def assert_has(self, answer, expected, path):
        """Checks that each member of `expected` is in the answer, with the same value."""
        if isinstance(expected, dict):
            self.assertIsInstance(answer, dict, path)
            for name, value in expected.items():
                self.assertIn(name, answer, path)
                self.assert_has(answer[name], value, f"{path}.{name}")
        elif isinstance(expected, list):
            self.assertEqual(len(answer), len(expected), path)
            for index, value in enumerate(expected):
                if path.endswith(".kernels") and value.get("kernel"):
                    self.assertTrue(answer[index]["kernel"].startswith(value["kernel"]))
                    continue
                self.assert_has(answer[index], value, f"{path}[{index}]")
        elif path.endswith(".text"):
            self.assertTrue(answer.startswith(expected), f"{path}: {answer}")
        else:
            self.assertEqual(answer, expected, path)

    def test_a_recorded_session(self):
        texts = {}
        for number, line in enumerate(pathlib.Path(__file__).with_name("mcp_session.jsonl").read_text().splitlines()):
            step = json.loads(line)
            self.session.send(step["send"])
            if "receive" in step:
                answer = self.session.receive()
                self.assert_has(answer, step["receive"], f"step {number}")
                if "content" in answer.get("result", {}):
                    texts[answer["id"]] = answer["result"]["content"][0]["text"]
        self.session.send("{not JSON")
        self.assertEqual(self.session.receive()["error"]["code"], -32700)
        self.assertEqual(self.session.close(), ("", "", 0))

        self.assertIn("strided.cu:6", texts[3])
        self.assertLess(len(texts[3].encode()), 2200)
        self.assertIn("from[i] (load, global memory): ", texts[4])
        self.assertIn("strided load, lanes 16,384 B apart: 32.0 sectors per request where 4.00 would do", texts[4])
        self.assertIn("sectors_per_request 32 → 4", texts["six"])
        self.assertIn("broken.cu:1", texts[7])
        self.assertIn("missing.cu: there is no such file", texts[8])

    def call(self, identity, name, **arguments):
        self.session.send({"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": {"name": name, "arguments": arguments}})

    def test_a_call_is_cancelled_while_it_runs(self):
        self.call(1, "profile", sources=["hangs.cu"])
        self.session.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        self.assertEqual(self.session.receive(), {"jsonrpc": "2.0", "id": 2, "result": {}})
        self.session.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        self.call(3, "explain_line", result="result-1", line=1)
        self.assertEqual(self.session.receive()["id"], 3)
        self.assertEqual(self.session.close(), ("", "", 0))

    def test_a_program_does_not_read_the_messages(self):
        self.call(1, "profile", sources=["reads.cu"])
        self.assertEqual(self.session.receive()["id"], 1)
        self.session.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        self.assertEqual(self.session.receive(), {"jsonrpc": "2.0", "id": 2, "result": {}})
        self.assertEqual(self.session.close(), ("", "", 0))

    def test_a_message_that_is_nested_too_deep(self):
        depth = 200000
        self.session.send('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "profile", "arguments": '
                          + "[" * depth + "]" * depth + "}}")
        self.assertEqual(self.session.receive()["error"]["code"], -32600)
        self.session.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        self.assertEqual(self.session.receive(), {"jsonrpc": "2.0", "id": 2, "result": {}})
        self.assertEqual(self.session.close(), ("", "", 0))

    def test_a_program_that_never_ends(self):
        self.call(1, "profile", sources=["hangs.cu"], timeout_seconds=5)
        result = self.session.receive()["result"]
        self.assertTrue(result["isError"])
        self.assertTrue(result["content"][0]["text"].startswith("it was ended after 5 s"))
        self.session.close()


if __name__ == "__main__":
    warplens_tool.main()
