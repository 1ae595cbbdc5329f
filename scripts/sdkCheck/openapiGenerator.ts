import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLine } from './commandLine.ts';
import type { Place, Warning } from './generator.ts';

const VERSION = '7.25.0';
const SHA256 = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae';
/** Where Maven packages come from, unless the environment names a mirror. */
const REPOSITORY = process.env.SDK_CHECK_MAVEN_REPOSITORY ?? 'https://repo1.maven.org/maven2';

/** What openapi-generator says of our document in every language. */
export const OPENAPI_GENERATOR_WARNINGS: readonly Warning[] = [
  { text: 'OpenAPI 3.1 support is still in beta', why: 'The document is OpenAPI 3.1.' },
  {
    text: 'Failed to get the schema name: null',
    why: '`anyOf` of a reference and `null` is how OpenAPI 3.1 says that a reference can be null. The code that is written for it is right.',
  },
];

function jarFile(cache: string): string {
  return join(cache, `openapi-generator-cli-${VERSION}.jar`);
}

/** Downloads the generator once. Throws when the server does not answer or the file is not the expected one. */
export async function installOpenapiGenerator({ cache }: Place): Promise<void> {
  const file = jarFile(cache);
  if (existsSync(file) && sha256(await readFile(file)) === SHA256) return;
  const path = `org/openapitools/openapi-generator-cli/${VERSION}/openapi-generator-cli-${VERSION}.jar`;
  const response = await fetch(`${REPOSITORY}/${path}`).catch((error) => {
    throw new Error(`${REPOSITORY} does not answer: ${error.cause?.code ?? error.message}`);
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (sha256(bytes) !== SHA256) throw new Error(`${path} has the SHA-256 ${sha256(bytes)}, not ${SHA256}`);
  await mkdir(cache, { recursive: true });
  await writeFile(`${file}.part`, bytes);
  await rename(`${file}.part`, file);
}

/** The command that writes a client into `client/`. `properties` differ from the generator's defaults. */
export function openapiGenerator(language: string, { cache, document, folder }: Place, properties = ''): CommandLine {
  const line = ['java', '-jar', jarFile(cache), 'generate', '-i', document, '-g', language, '-o', 'client'];
  return { line: [...line, ...(properties ? [`--additional-properties=${properties}`] : [])], folder };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
