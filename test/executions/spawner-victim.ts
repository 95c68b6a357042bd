/** Asks the helper for twenty processes, prints the helper's id, and is gone while their pipes are being handed over. */
import { tmpdir } from "node:os";
import { Spawner } from "../../server/executions/pool/spawner.ts";

const spawner = new Spawner();
for (let n = 0; n < 20; n++) {
  const request = { command: "/bin/sh", args: ["-c", "echo $PPID; exec cat"], cwd: tmpdir(), env: {} };
  void spawner
    .spawn(request)
    .then(({ stdout }) =>
      stdout.once("data", (helper) =>
        process.stdout.write(helper, () => process.kill(process.pid, "SIGKILL")),
      ),
    );
}
