import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { type Agent, type Attempt, absent, bun, deno, member, onBun, subject } from "../attempts.ts";

interface PipeClass {
  new (type: number): { bind(path: string): number; listen(backlog: number): number };
}

async function bind(path: string): Promise<string> {
  const server = net.createServer().listen(path);
  await once(server, "listening");
  return "bound";
}

function get(options: http.RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    http.get(options, (response) => response.setEncoding("utf8").once("data", resolve)).on("error", reject);
  });
}

function bindHandle(handle: unknown, path: string): string {
  const Pipe = member<PipeClass>(handle, "constructor");
  absent(Pipe.name !== "Pipe");
  const pipe = new Pipe(1);
  const error = pipe.bind(path) || pipe.listen(1);
  if (error !== 0) throw new Error(`error ${error}`);
  return "bound";
}

/** Every socket of this process that is open now. */
const handles = (): { _handle?: unknown }[] =>
  member<() => { _handle?: unknown }[]>(process, "_getActiveHandles").call(process);

export const attempts: Record<string, Attempt> = {
  "bind next to the server's files": ({ outside }) => bind(`${outside}/svc.db-journal`),
  "bind by the class of standard input": ({ outside }) =>
    bindHandle(member(process.stdin, "_handle"), `${outside}/stdin`),
  "bind by the class of the channel": ({ outside }) => {
    absent(onBun);
    const open = handles().find(({ _handle }) => (_handle as { fd?: number } | undefined)?.fd === 3);
    return bindHandle(member(open, "_handle"), `${outside}/channel`);
  },
  "bind by an internal binding": ({ outside }) => {
    absent(onBun);
    const { Pipe } = member<(name: string) => { Pipe: PipeClass }>(process, "binding")("pipe_wrap");
    return bindHandle({ constructor: Pipe }, `${outside}/binding`);
  },
  "bind with cluster options": async ({ outside }) => {
    const server = net
      .createServer()
      .listen({ path: `${outside}/cluster`, exclusive: true, writableAll: true });
    await once(server, "listening");
    return "bound";
  },
  "connect to a service": ({ socket }) => get({ socketPath: socket }),
  "connect by the class of standard input": async ({ socket }) => {
    absent(onBun || process.stdin === undefined);
    const client = new net.Socket();
    client.connect({ path: socket });
    await once(client, "connect");
    client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return String((await once(client, "data"))[0]);
  },
  "Bun.listen": ({ outside }) => {
    bun<(options: object) => unknown>("listen")({ unix: `${outside}/bun`, socket: { data() {} } });
    return "bound";
  },
  "Bun.connect": async ({ socket }) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const handler = { data: (_: unknown, data: Uint8Array) => resolve(Buffer.from(data).toString()) };
    const client = await bun<(options: object) => Promise<net.Socket>>("connect")({
      unix: socket,
      socket: { ...handler, error: (_: unknown, error: Error) => reject(error) },
    });
    client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return promise;
  },
  "fetch of a Unix socket": async ({ socket }) => {
    absent(!onBun);
    return (await fetch("http://a.example/", { unix: socket } as never)).text();
  },
  "Deno.listen": ({ outside }) => {
    deno<(options: object) => unknown>("listen")({ transport: "unix", path: `${outside}/deno` });
    return "bound";
  },
  "Deno.connect": async ({ socket }) => {
    const client = await deno<(options: object) => Promise<object>>("connect")({
      transport: "unix",
      path: socket,
    });
    return `${typeof client} TOP SECRET`;
  },
  "an abstract socket": ({ socket }) => get({ socketPath: `\0${socket}` }),
  "an abstract socket of Deno.connect": async ({ socket }) => {
    const client = await deno<(options: object) => Promise<object>>("connect")({
      transport: "unix",
      path: `\0${socket}`,
    });
    return `${typeof client} TOP SECRET`;
  },
  "an abstract socket as the proxy of Deno": async ({ socket }) => {
    const createClient = deno<(options: object) => object>("createHttpClient");
    const client = createClient({ proxy: { transport: "unix", path: `\0${socket}` } });
    return (await fetch("http://a.example/", { client } as never)).text();
  },
  "an abstract socket of Deno.serve": async ({ socket }) => {
    const serve = deno<(options: object, handler: () => Response) => { shutdown(): Promise<void> }>("serve");
    await serve({ path: `\0${socket}-served`, onListen() {} }, () => new Response("")).shutdown();
    return "bound";
  },
};

const agent: Agent = subject(attempts);
export default agent;
