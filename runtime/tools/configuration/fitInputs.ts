import type { ErrorDetail } from '../../../core/errors.ts';
import { faultAt } from '../../../core/faults.ts';
import { ownTurn } from '../../../core/ownTurn.ts';
import { ComputationFailed, compute } from '../../threads/compute.ts';
import { ToolFailure } from '../failure.ts';
import type { JsonSchema } from '../tool.ts';
import { type CheckedInputs, checkInputs, isQuickCheck } from './inputSchema.ts';

/** Milliseconds to compile a schema. Schemas that pass the checks before take far less. */
const COMPILE_LIMIT_MS = 2_000;
/** Milliseconds to compile a schema again and to check inputs with it. */
const CHECK_LIMIT_MS = 1_000;

/** What is wrong with the schema of a tool's inputs, found in a thread: see `inputSchemaFaults`. */
export async function findSchemaFaults(schema: JsonSchema, path: string, workspaceId: string): Promise<ErrorDetail[]> {
  try {
    return await compute('findSchemaFaults', [schema, path], { workspaceId, limitMs: COMPILE_LIMIT_MS });
  } catch (error) {
    if (error instanceof ComputationFailed) return [faultAt(path, `${error.message} to compile`, 'time')];
    throw error;
  }
}

/**
 * The inputs of a run, with defaults filled in. Throws ToolFailure when they do not fit the schema, and the signal's reason. What may
 * take long is checked in a thread.
 */
export async function fitInputs(
  schema: JsonSchema | undefined,
  inputs: Record<string, unknown>,
  { context, signal }: { context: { workspaceId: string }; signal: AbortSignal | undefined },
): Promise<Record<string, unknown>> {
  const checked = await check(schema, inputs, context.workspaceId, signal);
  if ('problem' in checked) throw new ToolFailure(checked.problem);
  return checked.inputs;
}

async function check(
  schema: JsonSchema | undefined,
  inputs: Record<string, unknown>,
  workspaceId: string,
  signal: AbortSignal | undefined,
): Promise<CheckedInputs> {
  if (schema === undefined) return { inputs };
  // A model may call very many tools at once: each check has a turn of its own.
  await ownTurn();
  const text = JSON.stringify(inputs);
  if (isQuickCheck(schema, text)) return checkInputs(schema, inputs);
  try {
    const options = { workspaceId, limitMs: CHECK_LIMIT_MS, signal };
    const checked = await compute('checkInputsText', [JSON.stringify(schema), text], options);
    return 'problem' in checked ? checked : { inputs: JSON.parse(checked.inputs) as Record<string, unknown> };
  } catch (error) {
    if (!(error instanceof ComputationFailed)) throw error;
    return { problem: 'The inputs take too long to check against the inputSchema.' };
  }
}
