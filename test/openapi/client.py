"""Calls the service from its OpenAPI document alone, with the standard library of Python.

Usage: client.py BASE_URL API_KEY. Operations are found by their id, requests are built from their parameters, and each
request body and response is validated against its schema. Prints a line of JSON for each check.
"""

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


class Document:
    def __init__(self, base_url):
        with urllib.request.urlopen(base_url + "/openapi.json") as response:
            self.root = json.load(response)
        self.operations = {
            operation["operationId"]: (verb.upper(), path, operation)
            for path, item in self.root["paths"].items()
            for verb, operation in item.items()
        }

    def resolve(self, value):
        while "$ref" in value:
            target = self.root
            for name in value["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            value = target
        return value

    def problems(self, schema, value, place="$"):
        """The violations of the keywords that the document uses."""
        found = []
        if "$ref" in schema:
            found += self.problems(self.resolve(schema), value, place)
        for part in schema.get("allOf", []):
            found += self.problems(part, value, place)
        for union in ("anyOf", "oneOf"):
            if union in schema and all(self.problems(part, value, place) for part in schema[union]):
                found.append(f"{place} matches no schema of {union}")
        name = schema.get("type")
        if name is not None:
            is_bool = isinstance(value, bool) and name != "boolean"
            if is_bool or not isinstance(value, TYPES[name]):
                return [*found, f"{place} is not of type {name}: {value!r}"]
        if "enum" in schema and value not in schema["enum"]:
            found.append(f"{place} is not one of {schema['enum']}: {value!r}")
        if isinstance(value, dict):
            properties = schema.get("properties", {})
            found += [f"{place} lacks {one}" for one in schema.get("required", []) if one not in value]
            for key, item in value.items():
                other = schema.get("additionalProperties", True)
                if key in properties:
                    found += self.problems(properties[key], item, f"{place}.{key}")
                elif other is False:
                    found.append(f"{place} has the unknown property {key}")
                elif isinstance(other, dict):
                    found += self.problems(other, item, f"{place}.{key}")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                found += self.problems(schema.get("items", {}), item, f"{place}[{index}]")
        elif isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                found.append(f"{place} does not match {schema['pattern']}: {value!r}")
            if len(value) > schema.get("maxLength", len(value)) or len(value) < schema.get("minLength", 0):
                found.append(f"{place} has the wrong length: {value!r}")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            if value < schema.get("minimum", value) or value > schema.get("maximum", value):
                found.append(f"{place} is out of range: {value!r}")
        return found


class Client:
    def __init__(self, base_url, api_key):
        self.base_url = base_url
        self.api_key = api_key
        self.document = Document(base_url)

    def call(self, operation_id, body=None, **arguments):
        """Returns the status and the decoded body: for a stream the list of its lines."""
        verb, path, operation = self.document.operations[operation_id]
        headers, query = {}, []
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            value = arguments.pop(name.lower().replace("-", "_"), None)
            if value is None:
                assert not parameter.get("required"), f"{operation_id} needs {name}"
            elif parameter["in"] == "path":
                path = path.replace("{" + name + "}", urllib.parse.quote(str(value), safe=""))
            elif parameter["in"] == "query":
                query.append((name, value))
            else:
                headers[name] = value
        assert not arguments, f"{operation_id} has no {list(arguments)}"
        if operation["security"]:
            headers["Authorization"] = "Bearer " + self.api_key
        data = None
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert self.document.problems(schema, body) == [], self.document.problems(schema, body)
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        url = self.base_url + path + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")
        request = urllib.request.Request(url, data, headers, method=verb)
        try:
            with urllib.request.build_opener(NoRedirect).open(request) as response:
                return self.check(operation, response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            return self.check(operation, error.code, error.headers, error.read())

    def check(self, operation, status, headers, text):
        responses = operation["responses"]
        response = self.document.resolve(responses.get(str(status)) or responses["default"])
        content_type = headers["Content-Type"]
        schema = response["content"][content_type]["schema"]
        is_stream = content_type == "application/x-ndjson"
        values = [json.loads(line) for line in (text.splitlines() if is_stream else [text])]
        for value in values:
            problems = self.document.problems(schema, value)
            assert problems == [], f"{operation['operationId']} {status}: {problems}"
        return status, values if is_stream else values[0]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def main(base_url, api_key):
    client = Client(base_url, api_key)

    def report(name, value):
        print(json.dumps([name, value]))

    _, started = client.call("runExecution", {"name": "echo", "input": {"a": [1, None]}})
    execution_id = started["execution_id"]
    _, lines = client.call("watchExecution", execution_id=execution_id)
    report("watched", len(lines) > 0)
    _, execution = client.call("getExecution", execution_id=execution_id)
    report("got", [execution["status"], execution["output"]])
    _, page = client.call("listExecutions", status="succeeded", page_size=1)
    report("listed", len(page["executions"]))
    report("missing", client.call("getExecution", execution_id="exe_00000000000000000000000000")[0])
    _, hooks = client.call("listWebhooks", api_key_only="true")
    address = {"org_id": hooks["organization"]["org_id"], "agent_name": "echo", "slug": "hook"}
    report("queued", client.call("triggerAgentWebhook", {"b": 2}, **address)[0])
    status, result = client.call("triggerAgentWebhook", {"b": 2}, prefer="wait=30", **address)
    report("waited", [status, result["output"]])
    report("failed", client.call("triggerAgentWebhook", {"fail": True}, prefer="wait=30", **address)[0])
    report("unknown", client.call("triggerWebhook", {}, org_id=address["org_id"], webhook_slug="none")[0])
    report("set", client.call("setSecret", {"value": "secret"}, name="TOKEN")[1]["name"])
    report("secrets", [one["name"] for one in client.call("listSecrets")[1]["secrets"]])
    report("deleted", client.call("deleteSecret", name="TOKEN")[0])
    _, deployments = client.call("listDeployments")
    deployment_id = deployments["deployments"][0]["deployment_id"]
    report("deployment", client.call("getDeployment", deployment_id=deployment_id, include_files="true")[0])
    report("download", client.call("downloadDeployment", deployment_id=deployment_id)[0])
    report("health", client.call("check")[1]["status"])
    report("alive", client.call("isAlive")[0])
    try:
        client.call("runExecution", {"name": 7})
    except AssertionError as error:
        report("checked", "not of type string" in str(error))


main(*sys.argv[1:])
