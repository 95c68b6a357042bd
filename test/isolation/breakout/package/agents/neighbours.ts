import fs from "node:fs";
import path from "node:path";
import { type Agent, type Attempt, read, subject } from "../attempts.ts";

export const attempts: Record<string, Attempt> = {
  "the package of another deployment": ({ otherPackage }) => read(`${otherPackage}/agents/prize.ts`),
  "a module of another deployment": async ({ otherPackage }) =>
    (await import(`${otherPackage}/agents/prize.ts`)).prize,
  "the scratch folder of another runner": ({ otherScratch }) => {
    const [folder = "none"] = fs.readdirSync(otherScratch);
    return read(`${otherScratch}/${folder}/prize`);
  },
  "a scratch folder next to its own": () => {
    const files = fs.readdirSync("..").map((folder) => `../${folder}/prize`);
    return (
      files
        .filter((file) => fs.existsSync(file))
        .map(read)
        .join("") || refuse()
    );
  },
  "the folder of all packages": ({ otherPackage }) => {
    const names = fs.readdirSync(path.dirname(otherPackage));
    return names.includes(path.basename(otherPackage)) ? "TOP SECRET" : refuse();
  },
};

function refuse(): never {
  throw new Error("nothing found");
}

const agent: Agent = subject(attempts);
export default agent;
