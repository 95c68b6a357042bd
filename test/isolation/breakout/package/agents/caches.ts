import fs from "node:fs";
import { type Agent, type Attempt, absent, onDeno, subject } from "../attempts.ts";

const url = "http://cache.example/";

/** The other deployment stores the prize in each. */
export const stores: Record<string, { put(): unknown; get(): unknown }> = {
  localStorage: {
    put: () => localStorage.setItem("prize", "TOP SECRET"),
    get: () => localStorage.getItem("prize"),
  },
  sessionStorage: {
    put: () => sessionStorage.setItem("prize", "TOP SECRET"),
    get: () => sessionStorage.getItem("prize"),
  },
  "the cache API": {
    put: async () => (await caches.open("shared")).put(url, new Response("TOP SECRET")),
    get: async () => (await (await caches.open("shared")).match(url))?.text(),
  },
  "the folder of Deno's cache": {
    put: () => fs.writeFileSync(`${process.env.DENO_DIR}/prize`, "TOP SECRET"),
    get: () => fs.readFileSync(`${process.env.DENO_DIR}/prize`, "utf8"),
  },
  "the home folder": {
    put: () => fs.writeFileSync(`${process.env.HOME}/prize`, "TOP SECRET"),
    get: () => fs.readFileSync(`${process.env.HOME}/prize`, "utf8"),
  },
  "the folder of temporary files": {
    put: () => fs.writeFileSync(`${process.env.TMPDIR}/prize`, "TOP SECRET"),
    get: () => fs.readFileSync(`${process.env.TMPDIR}/prize`, "utf8"),
  },
};

export const attempts: Record<string, Attempt> = {};
for (const [name, { get }] of Object.entries(stores)) {
  attempts[name] = async () => {
    absent(name.includes("Deno") && !onDeno);
    absent(name === "localStorage" && typeof localStorage === "undefined");
    absent(name === "sessionStorage" && typeof sessionStorage === "undefined");
    absent(name === "the cache API" && typeof caches === "undefined");
    return (await get()) ?? "nothing";
  };
}

const agent: Agent = subject(attempts);
export default agent;
