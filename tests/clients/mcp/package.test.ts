import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { VERSION } from '../../../clients/mcp/version.ts';

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../../clients/mcp/${file}`, import.meta.url), 'utf8'));

/** The format of server.json, as far as this one uses it (schema 2025-12-11 of the MCP registry). Other fields are mistakes. */
const input = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  value: z.string().optional(),
};
const variables = z.record(z.string(), z.strictObject(input));
const keyValue = z.strictObject({ ...input, name: z.string(), variables: variables.optional() });
const format = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  packages: z.array(
    z.strictObject({
      registryType: z.literal('npm'),
      identifier: z.string(),
      version: z.string().regex(/^\d+\.\d+\.\d+$/),
      runtimeHint: z.literal('npx'),
      transport: z.strictObject({ type: z.literal('stdio') }),
      environmentVariables: z.array(keyValue),
    }),
  ),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string().regex(/^https?:\/\/\S+$/),
      variables,
      headers: z.array(keyValue),
    }),
  ),
});

test('server.json has the form of the registry, and names the package and the version that there are', () => {
  const server = format.parse(read('server.json'));
  const { name, version, mcpName } = read('package.json');
  expect([server.version, version]).toEqual([VERSION, VERSION]);
  expect(server.packages).toMatchObject([{ identifier: name, version: VERSION }]);
  // The registry takes a package only when it says this itself.
  expect(mcpName).toBe(server.name);
});

test('each variable in braces of server.json is described', () => {
  for (const { url, variables: known, headers } of format.parse(read('server.json')).remotes) {
    expect([...url.matchAll(/\{(\w+)\}/g)].map(([, each]) => each)).toEqual(Object.keys(known));
    for (const { value = '', variables: inner = {} } of headers)
      expect([...value.matchAll(/\{(\w+)\}/g)].map(([, each]) => each)).toEqual(Object.keys(inner));
  }
});
