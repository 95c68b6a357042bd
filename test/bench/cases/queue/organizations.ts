import { Accepting } from "../../runner/accepting.ts";
import type { Options, Row } from "../../runner/case.ts";
import { programsOf, type Sample } from "../../runner/interleave.ts";
import { copyOrganization } from "../../runner/organizations.ts";
import { acceptOnly, withServer } from "../../runner/server.ts";

const counts = [1, 10, 100, 1_000];

/** The webhooks go to all organizations in turn. Compared with one organization. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  return withServer(acceptOnly, async (server, firstUrl) => {
    const found: Sample[][] = [];
    let copied = 1;
    for (const count of counts) {
      await server.kill("SIGTERM");
      const organizations = copyOrganization(server, copied, count);
      copied = count;
      await server.start();
      const { pathname } = new URL(firstUrl);
      const [first = ""] = organizations;
      const [url = "", ...moreUrls] = organizations.map((id) => server.url + pathname.replace(first, id));
      const accepting = new Accepting({ url, moreUrls, bodyBytes: 150, seconds: seconds / 2, headers: {} });
      const samples: Sample[] = [];
      // Fills the caches of routes.
      await accepting.measure();
      for (let round = 0; round < rounds; round++) samples.push(await accepting.measure());
      found.push(samples);
    }
    return counts.map((count, index) => {
      const all = new Map([
        ["svc", found[index] ?? []],
        ["with 1 organization", found[0] ?? []],
      ]);
      const programs = programsOf(all).slice(0, index === 0 ? 1 : 2);
      const what = `${count.toLocaleString("en-US")} organization${count === 1 ? "" : "s"}`;
      return { what, unit: "webhooks/s", programs, at: count };
    });
  });
}
