import type { Plan } from '../../code/plan.ts';
import { planText } from '../../code/planText.ts';
import type { Io } from '../io.ts';
import { coloursOf } from '../terminal/colours.ts';
import { plainText } from '../terminal/plain.ts';

/** The plan for the terminal of stdout. It holds texts from the service and from files: nothing in them drives the terminal. */
export function planFor({ stdout, env }: Io, plan: Plan): string {
  const plain = JSON.parse(JSON.stringify(plan), (_name, value) =>
    typeof value === 'string' ? plainText(value) : value,
  );
  return planText(plain, coloursOf(stdout, env));
}
