import { posix } from 'node:path';
import { fileSchemaOf } from '../files/fileSchema.ts';
import type { JsonObject } from '../json.ts';
import type { Kind } from '../kind.ts';

/** Where `pull` writes the schemas, below the folder of guildhall.yaml. */
const FOLDER = '.guildhall/schemas';

/** JSON Schema for editors of the YAML files of a kind: the one by which the files are checked. */
export function editorSchema(kind: Kind): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Guildhall: ${kind.kind}`,
    ...fileSchemaOf(kind),
  };
}

/** The files with the schemas of these kinds: text by path below the folder of guildhall.yaml. */
export function schemaFiles(kinds: readonly Kind[]): Record<string, string> {
  return Object.fromEntries(
    kinds.map((kind) => [`${FOLDER}/${kind.kind}.json`, `${JSON.stringify(editorSchema(kind), null, 2)}\n`]),
  );
}

/** The first line of a YAML file, by which editors find its schema. `path` is that of the YAML file. */
export function schemaLine(kind: Kind, path: string): string {
  return `# yaml-language-server: $schema=${posix.relative(posix.dirname(path), `${FOLDER}/${kind.kind}.json`)}`;
}
