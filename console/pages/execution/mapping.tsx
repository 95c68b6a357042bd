/** What the field mapping of the webhook took from the payload. */
import type { Execution } from "../../../proto/svc/v1/execution_pb.ts";
import { Card } from "../../components/basics.tsx";
import { Scroll } from "../../components/scroll.tsx";

export function Mapping({ execution: { mapping } }: { execution: Execution }) {
  if (mapping.length === 0) return null;
  return (
    <Card title="Field mapping">
      <Scroll label="Field mapping">
        <table>
          <thead>
            <tr>
              <th scope="col">Path</th>
              <th scope="col">Parameter</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {mapping.map(({ path, parameter, found, type, because }) => (
              <tr key={`${path}\n${parameter}`}>
                <td>
                  <code>{path}</code>
                </td>
                <td>
                  <code>{parameter}</code>
                </td>
                <td>{found ? type : <span class="status failed">{because || "not found"}</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}
