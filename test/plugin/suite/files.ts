import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TransferProgress } from "../../../plugin/index.ts";
import { type Case, failure } from "../context.ts";

/** Response of `form`. */
interface Form {
  head: string;
  closed: boolean;
  bytes: number;
  sha256: string;
  contentLength: string | null;
  transferEncoding: string | null;
  bodyBytes: number;
  authorization: string | null;
}

export const fileCases: Case[] = [
  {
    name: "uploads a file as a form field with a content length",
    async run({ plugin, folder }) {
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard });
        for (const size of [0, 1, 262_143, 262_144, 262_145, 3_000_000, 20_000_000]) {
          const content = pattern(size);
          const file = join(folder, "report.csv");
          writeFileSync(file, content);
          const progress: TransferProgress[] = [];
          const form = await api.uploadFile<Form>(
            `/form${size > 3_000_000 ? "?slow=1" : ""}`,
            file,
            "document",
            {
              contentType: "text/csv",
              onProgress: (step) => progress.push(step),
            },
          );
          assert.equal(
            form.head.split("\r\n").slice(1).join("|"),
            'Content-Disposition: form-data; name="document"; filename="report.csv"|Content-Type: text/csv',
          );
          assert.deepEqual([form.closed, form.bytes, form.sha256], [true, size, digest(content)]);
          assert.deepEqual([form.contentLength, form.transferEncoding], [String(form.bodyBytes), null]);
          assert.equal(form.authorization, "Bearer key-1234");
          assert.ok(progress.every(({ totalBytes }) => totalBytes === size));
          assert.equal(progress.at(-1)?.transferredBytes ?? 0, size);
          const steps = progress.map(({ transferredBytes }) => transferredBytes);
          assert.deepEqual(
            steps,
            steps.toSorted((a, b) => a - b),
          );
        }
      }
    },
  },
  {
    name: "escapes names in the form header",
    async run({ plugin, folder }) {
      const file = join(folder, 'a"b\r\nX-Evil: 1.txt');
      writeFileSync(file, "x");
      const { head } = await plugin().uploadFile<Form>("/form", file, 'f"\r\nX-Evil: 2');
      assert.match(head, /name="f%22%0D%0AX-Evil: 2"; filename="a%22b%0D%0AX-Evil: 1\.txt"\r\n/);
      assert.equal(head.split("\r\n").length, 3);
    },
  },
  {
    name: "follows a redirect that keeps the body of an upload",
    async run({ plugin, folder }) {
      const file = join(folder, "a.bin");
      writeFileSync(file, pattern(200_000));
      for (const hooks of [{}, { onRequest: () => {} }]) {
        const form = await plugin(hooks).uploadFile<Form>("/redirect?status=307&to=/v1/form", file, "f");
        assert.deepEqual([form.bytes, form.sha256], [200_000, digest(pattern(200_000))]);
      }
    },
  },
  {
    name: "stops an upload when the server rejects it early",
    async run({ plugin, folder }) {
      const file = join(folder, "a.bin");
      writeFileSync(file, new Uint8Array(50_000_000));
      for (const egressGuard of [false, true]) {
        let sentBytes = 0;
        const error = await failure("http", () =>
          plugin({ egressGuard }).uploadFile("/refuse", file, "f", {
            onProgress({ transferredBytes }) {
              sentBytes = transferredBytes;
            },
          }),
        );
        assert.deepEqual([error.status, error.body], [413, { error: "too large" }]);
        assert.ok(sentBytes < 50_000_000, `${sentBytes}`);
      }
    },
  },
  {
    name: "refuses an invalid upload without sending anything",
    async run({ plugin, folder, log }) {
      const api = plugin();
      await failure("file", () => api.uploadFile("/form", join(folder, "missing"), "f"));
      await failure("file", () => api.uploadFile("/form", folder, "f"));
      writeFileSync(join(folder, "a"), "a");
      await failure("invalid_argument", () => api.uploadFile("/form", join(folder, "a"), ""));
      await failure("invalid_argument", () => api.uploadFile("../form", join(folder, "a"), "f"));
      await failure("invalid_argument", () =>
        api.uploadFile("/form", join(folder, "a"), "f", { contentType: "a\r\nb" }),
      );
      const error = await failure("invalid_argument", () =>
        plugin({ dispatcher: {} as never }).uploadFile("/form", join(folder, "a"), "f"),
      );
      assert.match(error.message, /dispatcher/);
      assert.equal((await log()).connections, 0);
      const ended = await failure("aborted", () =>
        api.uploadFile("/form", join(folder, "a"), "f", {
          onProgress() {
            throw new Error("stop");
          },
        }),
      );
      assert.equal((ended.cause as Error).message, "stop");
    },
  },
  {
    name: "downloads a body of any size and returns the path",
    async run({ plugin, folder }) {
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard, maxResponseBytes: 10 });
        for (const [query, size] of [
          ["bytes=0", 0],
          ["bytes=1", 1],
          ["bytes=5000000", 5_000_000],
          ["bytes=5000000&chunked=1", 5_000_000],
        ] as const) {
          const path = join(folder, "out.bin");
          writeFileSync(path, "old");
          const progress: TransferProgress[] = [];
          const saved = await api.downloadFile(`/stream?${query}`, path, {
            onProgress: (step) => progress.push(step),
          });
          assert.equal(saved, path);
          assert.equal(digest(readFileSync(path)), digest(pattern(size)));
          assert.equal(progress.at(-1)?.transferredBytes ?? 0, size);
          assert.ok(
            progress.every(({ totalBytes }) => totalBytes === (query.includes("chunked") ? null : size)),
          );
          assert.deepEqual(readdirSync(folder), ["out.bin"]);
        }
        const unpacked = join(folder, "packed.bin");
        await api.downloadFile("/packed?bytes=300000", unpacked);
        assert.equal(statSync(unpacked).size, 300_000);
        await api.downloadFile("/reply?status=204", unpacked);
        assert.equal(statSync(unpacked).size, 0);
        await api.downloadFile("/hops?left=3", unpacked);
        assert.equal(JSON.parse(readFileSync(unpacked, "utf8")).headers.authorization, "Bearer key-1234");
        rmSync(unpacked);
      }
    },
  },
  {
    name: "keeps the existing file and leaves no partial file after a failure",
    async run({ plugin, folder }) {
      for (const egressGuard of [false, true]) {
        const api = plugin({ egressGuard });
        const path = join(folder, "out.bin");
        writeFileSync(path, "old");
        await failure("network", () => api.downloadFile("/cut", path));
        await failure("network", () => api.downloadFile("/cut?chunked=1", path));
        await failure("http", () => api.downloadFile("/reply?status=500&body=oops", path));
        await failure("timeout", () => api.downloadFile("/stalled", path, { timeout: 0.1 }));
        await failure("invalid_argument", () => api.downloadFile("/../x", path));
        await failure("aborted", () =>
          api.downloadFile("/stream?bytes=5000000", path, {
            onProgress({ transferredBytes }) {
              if (transferredBytes > 100_000) throw new Error("stop");
            },
          }),
        );
        const controller = new AbortController();
        await failure("aborted", () =>
          api.downloadFile("/stream?bytes=50000000", path, {
            signal: controller.signal,
            onProgress: () => controller.abort(),
          }),
        );
        assert.equal(readFileSync(path, "utf8"), "old");
        assert.deepEqual(readdirSync(folder), ["out.bin"]);
      }
    },
  },
  {
    name: "reports a path that cannot be written",
    async run({ plugin, folder }) {
      const api = plugin();
      mkdirSync(join(folder, "taken"));
      writeFileSync(join(folder, "taken", "x"), "x");
      await failure("file", () => api.downloadFile("/stream?bytes=10", join(folder, "taken")));
      await failure("file", () => api.downloadFile("/stream?bytes=10", join(folder, "no", "such", "folder")));
      await failure("invalid_argument", () => api.downloadFile("/stream?bytes=10", ""));
      await failure("invalid_argument", () => api.downloadFile("/stream?bytes=10", "a\0b"));
      assert.deepEqual(readdirSync(folder), ["taken"]);
      writeFileSync(join(folder, "target"), "mine");
      symlinkSync(join(folder, "target"), join(folder, "link"));
      await api.downloadFile("/stream?bytes=10", join(folder, "link"));
      assert.equal(readFileSync(join(folder, "target"), "utf8"), "mine");
      assert.equal(statSync(join(folder, "link")).size, 10);
    },
  },
];

/** Body of `stream`: each 64 KiB filled with its number. */
function pattern(size: number): Buffer {
  const content = Buffer.alloc(size);
  for (let start = 0; start < size; start += 65_536)
    content.fill((start / 65_536) & 255, start, Math.min(start + 65_536, size));
  return content;
}

function digest(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
