/** Which processes PostgreSQL sends notifications to. */
import { expect, test, vi } from "vitest";
import { type Engine, notify, type Topic } from "../../server/store/engine.ts";
import { onDatabase } from "../support/postgres/databases.ts";
import { DatabaseProxy } from "../support/postgres/proxy.ts";
import { newDatabase, openDatabase } from "./stores.ts";

/** Resolves when the listener has been called with the key; calls with null are ignored. */
function heard(engine: Engine, topic: Topic, key: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = engine.listen(topic, (changed) => {
      if (changed !== key) return;
      stop();
      resolve();
    });
  });
}

test("ignores notifications of other programs", async () => {
  const url = await newDatabase();
  const sender = await openDatabase({ url });
  const receiver = await openDatabase({ url });
  const last = heard(receiver, "routes", "org_1");
  for (const payload of ["reload", "null", "{}"]) await onDatabase(url, `NOTIFY svc, '${payload}'`);
  await sender.write(() => notify("routes", "org_1"));
  await last;
});

test("a process receives the hints of a topic while it listens, and no others", async () => {
  const url = await newDatabase();
  const proxy = await DatabaseProxy.start(url);
  let received = "";
  proxy.toClient = (chunk) => {
    received += chunk.toString("latin1");
    return true;
  };
  const sender = await openDatabase({ url });
  const receiver = await openDatabase({ url: proxy.url });
  const send = (topic: Topic, key: string) => sender.write(() => notify(topic, key));

  // PostgreSQL sends notifications in their order.
  const first = heard(receiver, "routes", "org_1");
  await send("execution", "exe_unheard");
  await send("routes", "org_1");
  await first;
  expect(received).not.toContain("exe_unheard");

  // A listener is called when the channel is joined, because earlier notifications did not arrive.
  let stop = () => {};
  await new Promise<void>((resolve) => {
    stop = receiver.listen("execution", (key) => key === null && resolve());
  });
  const second = heard(receiver, "execution", "exe_heard");
  await send("execution", "exe_heard");
  await second;
  expect(received).toContain("exe_heard");

  stop();
  await vi.waitFor(() => expect(received).toContain("UNLISTEN"), 30_000);
  const last = heard(receiver, "routes", "org_2");
  await send("execution", "exe_later");
  await send("routes", "org_2");
  await last;
  expect(received).not.toContain("exe_later");
  proxy.close();
});
