/** Holds a connection to the test open, by which the test sees the process end, and does what its input names. */
import { connect } from "node:net";

export default async function lifeline(input: { port: number; then: string }): Promise<string> {
  const socket = connect(input.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`${process.pid}\n`);
  // The test answers, so that what was written has left before a loop begins.
  await new Promise((resolve) => socket.once("data", resolve));
  if (input.then === "spin") for (;;);
  if (input.then === "hang") await new Promise(() => {});
  if (input.then === "spinLater") {
    setTimeout(() => {
      socket.write("spinning");
      for (;;);
    }, 0);
  }
  return "returned";
}
