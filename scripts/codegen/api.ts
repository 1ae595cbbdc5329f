import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** The type of a string to which values may come: those that are known, because this service sends no others. */
function knownValues({ 'x-extensible-enum': known }: object & { 'x-extensible-enum'?: string[] }) {
  return (
    known &&
    ts.factory.createUnionTypeNode(
      known.map((value) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(value))),
    )
  );
}

/** The text of generated/api.ts: the types of the document. A part of a form in JSON has the type of what it says: handlers get it parsed. */
export async function apiModule(openapi: string): Promise<string> {
  const parsed = JSON.parse(openapi, (_key, value) =>
    value?.contentMediaType === 'application/json' ? { description: value.description, ...value.contentSchema } : value,
  );
  const types = astToString(await openapiTS(parsed, { alphabetize: false, transform: knownValues }));
  return `// Written by \`npm run codegen\` from spec/. Do not edit.\n\n${types}`;
}
