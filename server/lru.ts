export { LruCache } from "../project/lru.ts";
