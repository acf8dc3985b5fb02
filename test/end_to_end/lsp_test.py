"""Tests `warplens lsp` with a recorded session, whose answers are exact, and with clients that save, send garbage or go away."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import warplens_tool
from warplens_tool import PROJECT, warplens

KERNEL = """template <class T> __global__ void copy(const T* from, T* to, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  i = i % STRIDE * (n / STRIDE) + i / STRIDE;
  if (i < n)
    to[i] = from[i];
}
"""
MAIN = """#include "kernel.cuh"
#include <cstdlib>
__global__ void fill(float* to) { to[threadIdx.x] = 0; }
int main(int, char** arguments) {
  unsigned n = 64 * atoi(arguments[1]);
  float *from, *to;
  cudaMalloc(&from, 4 * n);
  cudaMalloc(&to, 4 * n);
  fill<<<1, 256>>>(to);
  copy<<<n / 256, 256>>>(from, to, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
HANGS = """#include <cstdio>
#include <unistd.h>
__global__ void k(float* a) { *a = 1; }
int main(int, char** arguments) {
  FILE* mark = fopen(arguments[1], "w");
  fprintf(mark, "%d", getpid());
  fclose(mark);
  for (;;)
    sleep(1);
}
"""
PATCH = """--- transpose.cu
+++ transpose.cu
@@ -32,3 +32,3 @@
 __global__ void transpose_conflicts(unsigned size, const float* in, float* out) {
-  __shared__ float tile[TILE][TILE];
+  __shared__ float tile[TILE][TILE + 1];
   const unsigned x = blockIdx.x * TILE + threadIdx.x;
"""
CAPABILITIES = {"window": {"workDoneProgress": True}, "workspace": {"inlayHint": {"refreshSupport": True}}}


class Session:
    """A server in a folder, as its client sees it."""

    def __init__(self, folder, *arguments, environment=None):
        self.folder = folder
        self.process = subprocess.Popen([warplens_tool.tool, "lsp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=folder,
                                        env=os.environ | {"WARPLENS_CACHE": str(folder / "cache")} | (environment or {}))
        self.alarm = threading.Timer(120, self.process.kill)  # a server that does not answer fails the test
        self.alarm.start()
        self.last_id = 100

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        content = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))

    def notify(self, method, **parameters):
        self.send({"jsonrpc": "2.0", "method": method, "params": parameters})

    def receive(self):
        length = None
        while (line := self.process.stdout.readline().strip()):
            name, value = line.split(b":")
            assert name == b"Content-Length", line
            length = int(value)
        return json.loads(self.process.stdout.read(length))

    def request(self, method, **parameters):
        """Returns the answer, which must be the next message."""
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters})
        answer = self.receive()
        assert answer["id"] == self.last_id, answer
        return answer

    def until(self, method):
        """Returns the next message of that method; requests before it and itself are answered."""
        while True:
            message = self.receive()
            if "id" in message and "method" in message:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
            if message.get("method") == method:
                return message.get("params")

    def until_ended(self):
        """Returns the text with which the next profile ends."""
        while (value := self.until("$/progress")["value"])["kind"] != "end":
            pass
        return value["message"]

    def initialize(self, capabilities=CAPABILITIES):
        answer = self.request("initialize", processId=None, rootUri=None, capabilities=capabilities)
        self.notify("initialized")
        return answer["result"]

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, name, text=None):
        self.notify("textDocument/didOpen", textDocument={"uri": self.uri(name), "languageId": "cuda-cpp", "version": 1,
                                                          "text": (self.folder / name).read_text() if text is None else text})
        return self.receive()["params"]["diagnostics"]

    def change(self, name, text):
        self.notify("textDocument/didChange", textDocument={"uri": self.uri(name), "version": 2}, contentChanges=[{"text": text}])
        return self.receive()["params"]["diagnostics"]

    def save(self, name):
        self.notify("textDocument/didSave", textDocument={"uri": self.uri(name)})

    def hints(self, name):
        """Returns the texts by line, from 1 on."""
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 10000, "character": 0}}
        hints = self.request("textDocument/inlayHint", textDocument={"uri": self.uri(name)}, range=whole)["result"]
        return {hint["position"]["line"] + 1: hint["label"] for hint in hints}

    def close(self):
        self.request("shutdown")
        self.notify("exit")
        return self.ended()

    def ended(self):
        """Returns what the server still said, and its exit code."""
        output, errors = self.process.communicate(timeout=60)
        self.alarm.cancel()
        return output, errors, self.process.returncode


class Lsp(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def write_program(self):
        (self.folder / "kernel.cuh").write_text(KERNEL)
        (self.folder / "main.cu").write_text(MAIN)

    def session(self, *arguments, **options):
        session = Session(self.folder, *arguments, **options)
        self.addCleanup(session.alarm.cancel)
        self.addCleanup(session.process.kill)
        return session

    def test_a_recorded_session(self):
        """Each answer is equal to the recorded one. The document is an example, then with a line more on top and one changed."""
        text = (PROJECT / "examples" / "transpose" / "transpose.cu").read_text()
        text = text.replace("out[x * size", "/* 𝄞 */ out[x * size", 1)  # of 4 bytes, and 2 code units of UTF-16
        (self.folder / "transpose.cu").write_text(text)
        profile = warplens("profile", "transpose.cu", "--backend", "cpu", "--quiet", "--format", "json", "-o", "result.json",
                           "--trials", "2", "--run", "256", cwd=self.folder)
        self.assertEqual(profile.returncode, 0, profile.stderr)
        suggestion = {"file": "transpose.cu", "line": 33, "edit": "pad the rows of tile by one element", "share": -0.25,
                      "half_width": 0.01, "patch": PATCH}
        (self.folder / "advice.json").write_text(json.dumps({"schema": "warplens-advice/1", "kernels": [
            {"kernel": "transpose_conflicts(unsigned int, float const*, float*)", "gpu": gpu, "suggestions": [suggestion]}
            for gpu in ("a100", "h100-sxm")]}))
        session = self.session("--result", "result.json", "--advice", "advice.json")
        recording = pathlib.Path(__file__).with_name("lsp_session.jsonl")
        uri = session.uri("transpose.cu")
        texts = {"TEXT": text, "CHANGED": "// ∑\n" + text.replace("tile[threadIdx.x][threadIdx.y + j];", "0;", 1)}
        recorded = []
        for line in recording.read_text().splitlines():
            step = json.loads(line)
            message = json.loads(json.dumps(step["send"]).replace("URI", uri))
            for holder in (message["params"].get("textDocument", {}), *message["params"].get("contentChanges", [])):
                if "text" in holder:
                    holder["text"] = texts[holder["text"]]
            session.send(message)
            answers = [json.loads(json.dumps(session.receive(), ensure_ascii=False).replace(uri, "URI")) for _ in step["receive"]]
            recorded.append({"send": step["send"], "receive": answers})
            if "WARPLENS_UPDATE_GOLDEN" not in os.environ:
                self.assertEqual(answers, step["receive"], f"to {step['send']['method']}")
        if "WARPLENS_UPDATE_GOLDEN" in os.environ:
            recording.write_text("".join(json.dumps(step, ensure_ascii=False) + "\n" for step in recorded))
        session.notify("exit")
        self.assertEqual(session.ended(), (b"", b"", 0))

    def test_a_save_refreshes_and_an_edit_carries_hints_along(self):
        self.write_program()
        session = self.session("--budget", "60s", "--gpu", "v100", "--nvcc", "-DSTRIDE=64", "--kernel", "copy", "--run", "256")
        session.initialize()
        self.assertEqual(session.open("main.cu"), [])
        self.assertEqual(session.open("kernel.cuh"), [])
        self.assertEqual(session.hints("kernel.cuh"), {})
        session.save("kernel.cuh")  # no result has it so far
        session.save("main.cu")
        self.assertEqual(session.until("$/progress")["value"]["kind"], "begin")
        self.assertEqual(session.until_ended(), "done")
        session.until("workspace/inlayHint/refresh")
        hints = session.hints("kernel.cuh")
        self.assertEqual(list(hints), [5])
        self.assertEqual(hints[5], "100 % · 32.0 sectors/request · long_scoreboard")
        self.assertEqual(session.hints("main.cu"), {})  # as --kernel leaves fill out
        hover = session.request("textDocument/hover", textDocument={"uri": session.uri("kernel.cuh")}, position={"line": 4, "character": 0})
        self.assertIn("on v100**", hover["result"]["contents"]["value"])

        findings = session.change("kernel.cuh", "\n\n" + KERNEL)
        self.assertEqual({(finding["range"]["start"]["line"], finding["code"]) for finding in findings}, {(6, "strided")})
        self.assertEqual(session.hints("kernel.cuh"), {7: hints[5]})
        self.assertEqual(session.change("kernel.cuh", KERNEL.replace("from[i]", "from[i] + 1")), [])
        self.assertEqual(session.hints("kernel.cuh"), {})

        # The header's program is known now; it has no waste any more.
        text = KERNEL.replace("  i = i % STRIDE * (n / STRIDE) + i / STRIDE;\n", "")
        (self.folder / "kernel.cuh").write_text(text)
        self.assertEqual(session.change("kernel.cuh", text), [{**finding, "range": {
            end: {"line": 3, "character": place["character"]} for end, place in finding["range"].items()}} for finding in findings])
        session.save("kernel.cuh")
        self.assertEqual(session.until_ended(), "done")
        session.until("workspace/inlayHint/refresh")
        self.assertRegex(session.hints("kernel.cuh")[4], r"^100 % · 4\.00 sectors/request · ")
        hints = session.hints("kernel.cuh")
        self.assertEqual(session.close(), (b"", b"", 0))

        session = self.session("--no-run")  # the notes are kept for the next time
        self.assertEqual(session.initialize()["serverInfo"]["name"], "warplens")
        session.open("kernel.cuh")
        self.assertEqual(session.hints("kernel.cuh"), hints)
        session.save("kernel.cuh")  # and is not profiled
        self.assertEqual(session.hints("kernel.cuh"), hints)
        self.assertEqual(session.close(), (b"", b"", 0))

    def test_a_program_that_does_not_compile_is_in_the_log(self):
        (self.folder / "main.cu").write_text("__global__ void k( {}\n")
        session = self.session()
        session.initialize({})
        session.open("main.cu")
        session.save("main.cu")
        message = session.until("window/logMessage")
        self.assertEqual(message["type"], 1)
        self.assertIn("main.cu:1", message["message"])
        self.assertEqual(session.hints("main.cu"), {})
        self.assertEqual(session.close(), (b"", b"", 0))

    def start_of(self, mark):
        """Waits for a program to say that it runs; returns its process id."""
        end = time.monotonic() + 60
        while not (mark.exists() and mark.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        identity = int(mark.read_text())
        mark.unlink()
        return identity

    def test_a_new_save_the_end_of_the_input_and_a_signal_end_the_child(self):
        (self.folder / "main.cu").write_text(HANGS)
        (self.folder / "tmp").mkdir()
        mark = self.folder / "mark"
        session = self.session("main.cu", "--run", str(mark), environment={"TMPDIR": str(self.folder / "tmp")})
        session.initialize()
        session.open("other.cuh", "")
        session.save("other.cuh")  # the program is named
        self.assertEqual(session.until("$/progress")["value"]["kind"], "begin")
        first = self.start_of(mark)
        session.save("other.cuh")
        self.assertEqual(session.until_ended(), "cancelled")
        begin = session.until("$/progress")
        second = self.start_of(mark)
        self.assertFalse(pathlib.Path(f"/proc/{first}").exists())
        session.notify("window/workDoneProgress/cancel", token=begin["token"])
        self.assertEqual(session.until_ended(), "cancelled")
        self.assertFalse(pathlib.Path(f"/proc/{second}").exists())
        session.save("other.cuh")
        session.until("$/progress")
        third = self.start_of(mark)
        _, errors, exit_code = session.ended()
        self.assertEqual((errors, exit_code), (b"", 0))
        self.assertFalse(pathlib.Path(f"/proc/{third}").exists())
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

        session = self.session("main.cu", "--run", str(mark), environment={"TMPDIR": str(self.folder / "tmp")})
        session.initialize({})
        session.open("other.cuh", "")
        session.save("other.cuh")
        fourth = self.start_of(mark)
        session.process.terminate()  # without the end of its input
        self.assertEqual(session.process.wait(60), -signal.SIGTERM)
        self.assertFalse(pathlib.Path(f"/proc/{fourth}").exists())
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_garbage(self):
        session = self.session("--no-run")

        def error(message):
            session.send(message) if not isinstance(message, bytes) else session.write(message)
            answer = session.receive()
            return answer["id"], answer["error"]["code"]

        def body(content):
            return b"Content-Length: %d\r\n\r\n%s" % (len(content), content)

        def request(method, **parameters):
            return {"jsonrpc": "2.0", "id": 7, "method": method, "params": parameters}

        self.assertEqual(error(request("textDocument/hover")), (7, -32002))
        self.assertEqual(error({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": []}), (7, -32602))
        session.initialize({"window": 3, "general": {"positionEncodings": "utf-8"}})
        self.assertEqual(error(request("initialize")), (7, -32600))
        self.assertEqual(error(request("no/such\u202emethod" + 100 * "x")), (7, -32601))
        hello = {"uri": "file:///hello.cu"}
        for parameters in ({}, {"textDocument": []}, {"textDocument": {"uri": 3}}, {"textDocument": hello},
                           {"textDocument": hello, "position": {"line": -1}}, {"textDocument": hello, "position": {"line": 0}}):
            self.assertEqual(error(request("textDocument/hover", **parameters)), (7, -32602), parameters)
        for uri in ("", "untitled:1", "file://%zz", "file:///%00", "file://elsewhere/x.cu", "file:///" + 5000 * "x"):
            session.notify("textDocument/didOpen", textDocument={"uri": uri, "version": 1, "text": "x\n"})
            self.assertEqual(session.receive()["params"], {"uri": uri, "version": 1, "diagnostics": []})
            session.notify("textDocument/didSave", textDocument={"uri": uri})
            whole = {"start": {"line": 0, "character": 0}, "end": {"line": 2**63, "character": 0}}
            self.assertEqual(session.request("textDocument/inlayHint", textDocument={"uri": uri}, range=whole)["result"], [])
        for parameters in ([], {}, {"textDocument": {"uri": "untitled:1"}}, {"textDocument": {"uri": "untitled:1"}, "contentChanges": [[3]]},
                           {"textDocument": {"uri": "untitled:1", "version": "x"}, "contentChanges": [{"text": "y", "range": {}}]}):
            for method in ("didOpen", "didChange", "didSave", "didClose"):
                if method != "didClose" or parameters in ([], {}):
                    session.send({"jsonrpc": "2.0", "method": "textDocument/" + method, "params": parameters})
        session.send({"jsonrpc": "2.0", "id": "warplens/1", "result": None})  # to a request that was never sent

        self.assertEqual(error(body(b"{not JSON")), (None, -32700))
        self.assertEqual(error(body(b"\xff\xfe\x00")), (None, -32700))
        self.assertEqual(error(body(b"[]")), (None, -32600))
        self.assertEqual(error(body(b"3")), (None, -32600))
        self.assertEqual(error(body(b'{"jsonrpc": "1.0", "id": 7, "method": "shutdown"}')), (7, -32600))
        depth = 200000
        self.assertEqual(error(body(b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": ' + depth * b"[" + depth * b"]" + b"}")),
                         (None, -32600))
        for header in (b"Content-Length: many\r\n\r\n", b"Content-Length: -3\r\n\r\n", b"Content-Length:\r\n\r\n",
                       b"Content-Length: 99999999999999999999999\r\n\r\n", b"Length: 4\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                       b"\xff\x00\xfe\r\n\r\n", 100000 * b"x" + b"\n"):
            self.assertEqual(error(header), (None, -32700), header[:50])
            self.assertEqual(session.request("textDocument/codeAction", textDocument={"uri": "untitled:1"}, range=whole)["result"], [])
        self.assertEqual(error(b"Content-Length: 99999999999\r\n\r\n{}"), (None, -32600))
        # A length that is too small: the message is broken, and so is what is left of it, up to the next header.
        self.assertEqual(error(b'Content-Length: 5\r\n\r\n{"jsonrpc": "2.0"}'), (None, -32700))
        session.send(request("shutdown"))
        self.assertEqual([session.receive() for _ in range(2)][1], {"jsonrpc": "2.0", "id": 7, "result": None})
        self.assertEqual(error(request("textDocument/hover")), (7, -32600))
        session.write(b"Content-Length: 50\r\n\r\n{")  # the input ends in a message
        self.assertEqual(session.ended(), (b"", b"", 0))

    def test_an_exit_without_shutdown_is_a_failure(self):
        session = self.session("--no-run")
        session.notify("exit")
        self.assertEqual(session.ended(), (b"", b"", 1))

    def test_options_that_contradict(self):
        refused = warplens("lsp", "--result", "x.json", "--run", "3")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("--result has the figures of a program that was profiled already", refused.stderr)


if __name__ == "__main__":
    warplens_tool.main()
