import { join } from 'node:path';
import type { CommandLine } from './commandLine.ts';
import type { Step } from './steps.ts';

/** Programs that use the generated clients, by language. */
export const PROGRAMS = join(import.meta.dirname, 'programs');

/** Where one generator works. */
export interface Place {
  /** The OpenAPI document as JSON. */
  document: string;
  /** An empty folder for the client, in `client/`, and the program that uses it. */
  folder: string;
  /** Kept from run to run: downloaded tools, and what builds leave. */
  cache: string;
}

/** A warning of a generator that has been judged. */
export interface Warning {
  /** What its line contains. */
  text: string | RegExp;
  /** Why it is harmless, or not of the document's making. */
  why: string;
}

/** A generator of clients, and how its client is compiled and used. */
export interface Generator {
  name: string;
  /** Part of `.ci/run`: needs nothing but `npm ci`, and is done within seconds. */
  fast: boolean;
  /** Programs that the machine must have. */
  tools: readonly string[];
  /** Steps that its clients cannot do for any document, and why. */
  cannot?: Partial<Record<Step, string>>;
  /** Warnings of the generator that stay, and why. Any other fails the check: the document must not cause one. */
  warnings?: readonly Warning[];
  /** Gets the generator, where `npm ci` does not. Throws when it is not to be had. */
  install?(place: Place): Promise<void>;
  /** Writes the client with the generator's defaults, but for the flags that README.md names. */
  generate(place: Place): CommandLine;
  /** Compiles the client with the program that uses it. */
  compile(place: Place): Promise<CommandLine>;
  /** Runs the program. It prints a line for each step: name and values, or `!`, name and error, with tabs between them. */
  use(place: Place): CommandLine;
}
