/** Sends one alert to the URL of the first argument, on any runtime, and prints the status or the error. */
import { createPost } from "../../server/executions/alerts/post.ts";

const [url = ""] = process.argv.slice(2);
createPost("all")(new URL(url), "{}", {}).then(
  (status) => console.log(`status ${status}`),
  (error: Error) => console.log(`error ${error.message}`),
);
