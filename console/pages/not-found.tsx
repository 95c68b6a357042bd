import { Empty } from "../components/basics.tsx";
import { href } from "../lib/router.ts";

export function NotFoundPage() {
  return (
    <Empty title="This page does not exist.">
      <p>
        <a href={href(["overview"])}>Go to the overview</a>
      </p>
    </Empty>
  );
}
