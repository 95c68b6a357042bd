/** Holds a connection to the test open, by which the test sees the process end, and does what its input names. */
import { connect } from "node:net";

export default async function lifeline(input: { port: number; then: string }): Promise<string> {
  const socket = connect(input.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`${process.pid}\n`);
  await new Promise((resolve) => socket.once("data", resolve));
  await new Promise((resolve) => socket.write("begin", resolve));
  if (input.then === "spin") for (;;);
  if (input.then === "hang") await new Promise(() => {});
  if (input.then === "spinLater") {
    socket.once("data", () => {
      socket.write("spinning", () => {
        for (;;);
      });
    });
  }
  return "returned";
}
