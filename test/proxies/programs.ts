/** Starts proxies with the configurations of docs/proxies.md. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, request as httpRequest } from "node:http";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { blocksOf } from "../docs/blocks.ts";

export interface RunningProxy {
  url: string;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** Port of the service on 127.0.0.1. */
  port: number;
  certificate: string;
  key: string;
}

/** The names of the programs that this machine has. */
export const installed: readonly string[] = [
  ["nginx", "-v"],
  ["caddy", "version"],
].flatMap(([name = "", argument = ""]) => (spawnSync(name, [argument]).status === 0 ? [name] : []));

export async function startNginx(options: ProxyOptions): Promise<RunningProxy> {
  const { folder, certFile, keyFile, port } = await prepare(options);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  const config = substitute(blockOf("nginx.conf"), {
    "http {": `http {\naccess_log off;\n${paths}`,
    "listen 443": `listen 127.0.0.1:${port}`,
    "/etc/ssl/svc.example.com.pem": certFile,
    "/etc/ssl/svc.example.com.key": keyFile,
    "server_name svc.example.com": "server_name localhost",
    "127.0.0.1:7070": `127.0.0.1:${options.port}`,
  });
  writeFileSync(join(folder, "nginx.conf"), config);
  const user = process.getuid?.() === 0 ? " user root;" : "";
  const settings = `daemon off; pid ${folder}/pid; error_log stderr;${user}`;
  const args = ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf"), "-g", settings];
  return start("nginx", args, folder, port);
}

export async function startCaddy(options: ProxyOptions): Promise<RunningProxy> {
  const { folder, certFile, keyFile, port } = await prepare(options);
  const config = substitute(blockOf("Caddyfile"), {
    "svc.example.com {": `{\nadmin off\nauto_https off\n}\nhttps://localhost:${port} {\ntls ${certFile} ${keyFile}`,
    "127.0.0.1:7070": `127.0.0.1:${options.port}`,
  });
  writeFileSync(join(folder, "Caddyfile"), config);
  const args = ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  return start("caddy", args, folder, port);
}

/** Passes requests on over HTTP/1.1, as small proxies do, and appends the address of its peer. */
export async function startNodeProxy({ port }: ProxyOptions): Promise<RunningProxy> {
  const proxy = createHttpServer((incoming, response) => {
    const { method = "GET", url: path = "/", socket, headers } = incoming;
    const chain = [headers["x-forwarded-for"], socket.remoteAddress].filter(Boolean).join(", ");
    const { forwarded: _, ...passed } = headers;
    const outgoing = httpRequest({ port, method, path, headers: { ...passed, "x-forwarded-for": chain } });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    response.once("close", () => outgoing.destroy());
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  const url = `http://localhost:${await listen(proxy)}`;
  return {
    url,
    async close() {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, "close");
    },
  };
}

async function prepare({ certificate, key }: ProxyOptions) {
  const folder = mkdtempSync(join(tmpdir(), "svc-proxy-"));
  const [certFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  writeFileSync(certFile, certificate);
  writeFileSync(keyFile, key);
  const probe = createServer();
  const port = await listen(probe);
  probe.close();
  await once(probe, "close");
  return { folder, certFile, keyFile, port };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

function blockOf(file: string): string {
  const block = blocksOf("docs/proxies.md").find(({ text }) => text.startsWith(`# ${file}\n`));
  if (block === undefined) throw new Error(`docs/proxies.md has no ${file}.`);
  return block.text;
}

/** @throws Error when the configuration lacks a text */
function substitute(config: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The configuration has no '${from}'.`);
    return text.replaceAll(from, to);
  }, config);
}

async function start(program: string, args: string[], folder: string, port: number): Promise<RunningProxy> {
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exited = once(child, "exit");
  const ready = async (): Promise<void> => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`);
    if (!(await accepts(port))) throw new Error(`${program} does not listen: ${output}`);
  };
  await vi.waitFor(ready, { timeout: 30_000 });
  return { url: `https://localhost:${port}`, close: () => stop(child, exited, folder) };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.once("connect", () => socket.destroy()).once("error", () => resolve(false));
  });
}

async function stop(child: ChildProcess, exited: Promise<unknown>, folder: string): Promise<void> {
  child.kill("SIGTERM");
  await exited;
  rmSync(folder, { recursive: true });
}
