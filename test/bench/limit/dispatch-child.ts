/** The handler of the limit of latency, in a process of its own. */
process.on("message", ({ t }: { t: string }) => {
  process.send?.(performance.timeOrigin + performance.now() - Number(t) / 1000);
});
process.once("disconnect", () => process.exit());
process.send?.("ready");
