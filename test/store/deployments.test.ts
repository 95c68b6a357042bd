import { expect, test } from "vitest";
import { run } from "../../server/store/engine.ts";
import { failDeployment, insertDeployment, listEvents } from "../../server/store/tables/deployments.ts";
import { newDeployment, openStore, orgId } from "../support/store.ts";

test("a deployment that was deleted while it was pending does not fail afterwards", async () => {
  const engine = openStore();
  const [deleted, failed] = [newDeployment(1), newDeployment(2)];
  const events: string[][] = [];
  await engine.write(function* () {
    for (const row of [deleted, failed]) yield* insertDeployment(row);
    yield* run("UPDATE deployments SET status = 'deleted' WHERE deployment_id = ?1", deleted.deployment_id);
    for (const { deployment_id: id } of [deleted, failed]) {
      yield* failDeployment(orgId, id, "no", 3);
      events.push((yield* listEvents(orgId, id)).map(({ event }) => event));
    }
  });
  expect(events).toEqual([[], ["failed"]]);
});
