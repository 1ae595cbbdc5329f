import { compiledGenerators } from './compiled.ts';
import type { Generator } from './generator.ts';
import { pythonGenerators } from './python.ts';
import { typescriptGenerators } from './typescript.ts';

/** Every generator that the document is checked with. */
export const generators: readonly Generator[] = [...typescriptGenerators, ...pythonGenerators, ...compiledGenerators];
