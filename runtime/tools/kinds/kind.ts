import type { ErrorDetail } from '../../../core/errors.ts';
import type { CheckedForm } from '../../../core/namedSchemas.ts';
import type { ImportedEndpoint } from '../../../db/stored/importedEndpoint.ts';
import type { JsonSchema, RunnableTool, ToolOutcome, ToolRunContext } from '../tool.ts';

/** One thing that a model can call: most tools are one, a CUSTOM_INTEGRATION is one for each endpoint that it imported. */
export interface ToolFunction {
  /** Of a CUSTOM_INTEGRATION: which endpoint to call. Sent as the input `operationId`. */
  operationId: string | null;
  /** What the tool itself says about the function; '' when it says nothing. */
  description: string;
  /** Shown to the model when nobody described the tool. Names nothing of the configuration that only the service should see. */
  fallbackDescription: string;
  inputSchema: JsonSchema;
}

/** A tool as `ToolKind.functions` reads it: the secrets in its configuration read `********`. */
export interface FunctionSource<Configuration> {
  name: string;
  configuration: Configuration;
  endpoints: readonly ImportedEndpoint[];
}

/** The result of a check: the configuration may be stored when there are no faults. */
export interface ConfigurationCheck {
  faults: ErrorDetail[];
  /** What a CUSTOM_INTEGRATION imported from its document; absent for the other kinds. */
  endpoints?: ImportedEndpoint[];
}

/** What a check of a configuration needs to know. */
export interface CheckOptions {
  /** Whose turn it is where workspaces take turns. */
  workspaceId: string;
  allowPrivateNetwork: boolean;
}

/** One run of a tool. */
export interface ToolRun<Configuration> {
  context: ToolRunContext;
  tool: RunnableTool;
  /** With the secrets in their places. */
  configuration: Configuration;
  endpoints: readonly ImportedEndpoint[];
  /** Not checked against the input schema yet. */
  inputs: Record<string, unknown>;
  signal: AbortSignal | undefined;
}

/**
 * A kind of tool. `kinds.ts` has the table of all kinds, `HttpToolConfiguration` in the document the schema of each. `functions` and `run` may rely on a configuration that `check` accepted
 * when it was stored.
 */
export interface ToolKind<Configuration = unknown> {
  /**
   * Paths to the secret values of a configuration, one step after the other. The step `*` stands for every field of an object.
   */
  readonly secretPaths: readonly (readonly string[])[];
  /**
   * Checks what the schema of the configuration cannot state. Its secrets are in place; one that the request leaves as it is reads
   * `********`. Returns all faults, those of the schema among them. `path` is the JSON Pointer of the configuration in the request. May
   * call an address that the tenant chose.
   */
  check(
    form: CheckedForm<Configuration>,
    path: string,
    options: CheckOptions,
  ): ConfigurationCheck | Promise<ConfigurationCheck>;
  /**
   * The origins (scheme, host and port) that a run sends secrets to. The configuration is one that `check` accepted, with its secrets in
   * their places.
   */
  origins(tool: Pick<FunctionSource<Configuration>, 'configuration' | 'endpoints'>): string[];
  /** Texts that a run makes of the secrets and that must be hidden as they are. Absent for kinds that make none. */
  secretTexts?(configuration: Configuration): string[];
  /** What a model can call. */
  functions(tool: FunctionSource<Configuration>): ToolFunction[];
  /** Runs the tool once. Throws ToolFailure when it has no outcome, and the signal's reason when the signal ends the run. */
  run(run: ToolRun<Configuration>): Promise<ToolOutcome>;
}

/** The schema of a tool that takes no inputs. */
export const NO_INPUTS: JsonSchema = { type: 'object', properties: {} };
