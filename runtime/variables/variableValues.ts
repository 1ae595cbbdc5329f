import { isStorable } from '../../core/text.ts';
/** Kinds of value that a variable of a prompt can take. */
export type VariableType =
  | 'text_short'
  | 'text_long'
  | 'number'
  | 'date'
  | 'time'
  | 'datetime'
  | 'single_choice'
  | 'multi_choice'
  | 'bool';

/** One choice of a variable: people see its label, the prompt its text. */
export interface VariableOption {
  /** Absent while the options are still being created. */
  publicId?: string;
  label: string;
  injectedText: string;
  /** Ties and absent values keep the order of the list. */
  sortOrder?: number | null;
}

/** The fields of an agent's variable that rendering and checking need. An `AgentVariable` of the contract has them. */
export interface VariableDefinition {
  name: string;
  type: VariableType;
  required: boolean;
  /** null or undefined = none. */
  defaultValue?: unknown;
  options?: readonly VariableOption[] | null;
  multiChoiceSeparator?: string | null;
  booleanTextWhenTrue?: string | null;
  booleanTextWhenFalse?: string | null;
}

const MAX_LENGTH = { text_short: 500, text_long: 10_000 };
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/;
/** RFC 3339, 5.6; a space may stand for the T. Leap seconds are not taken: no clock here can show one. */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

function isCalendarDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year === 0 || month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (days[month - 1] ?? 0);
}

function textProblem(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return 'must be a string';
  // Code points, as JSON Schema counts; the cheap test settles nearly all.
  if (value.length > max && [...value].length > max) return `must not be longer than ${max} characters`;
  if (!isStorable(value)) return 'must not contain NUL or half of a surrogate pair';
  return null;
}

/** The option that a value names: by `publicId`, else by label. */
function optionOf(definition: VariableDefinition, value: unknown): VariableOption | undefined {
  const options = definition.options ?? [];
  return (
    options.find(({ publicId }) => publicId !== undefined && publicId === value) ??
    options.find(({ label }) => label === value)
  );
}

/**
 * Why a value does not fit its variable, as the end of a sentence ("must be …"); null when it fits. The forms: a string of at most
 * 500 (text_short) or 10,000 (text_long) characters; a number; `YYYY-MM-DD`; `HH:MM` or `HH:MM:SS`; an RFC 3339 date-time;
 * an option by label or `publicId` (single_choice); a list of distinct options (multi_choice); true or false.
 */
export function valueProblem(definition: VariableDefinition, value: unknown): string | null {
  switch (definition.type) {
    case 'text_short':
    case 'text_long':
      return textProblem(value, MAX_LENGTH[definition.type]);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? null : 'must be a number';
    case 'date':
      return typeof value === 'string' && isCalendarDate(value) ? null : 'must be a date, YYYY-MM-DD';
    case 'time':
      return typeof value === 'string' && TIME.test(value) ? null : 'must be a time, HH:MM or HH:MM:SS';
    case 'datetime': {
      const match = typeof value === 'string' ? DATE_TIME.exec(value) : null;
      return match !== null && isCalendarDate(match[1] ?? '') ? null : 'must be a date and time as in RFC 3339';
    }
    case 'single_choice':
      return optionOf(definition, value) === undefined ? 'must be the label or publicId of one option' : null;
    case 'multi_choice': {
      const form = 'must be a list of labels or publicIds of distinct options';
      if (!Array.isArray(value) || value.length > (definition.options?.length ?? 0)) return form;
      const chosen = new Set(value.map((entry) => optionOf(definition, entry)));
      return chosen.has(undefined) || chosen.size !== value.length ? form : null;
    }
    case 'bool':
      return typeof value === 'boolean' ? null : 'must be true or false';
  }
}

/** What the prompt says for a value that fits: the text of chosen options in their order, the texts of true and false, else as given. */
export function renderValue(definition: VariableDefinition, value: unknown): string {
  switch (definition.type) {
    case 'single_choice':
      return optionOf(definition, value)?.injectedText ?? '';
    case 'multi_choice': {
      const chosen = new Set((value as unknown[]).map((entry) => optionOf(definition, entry)));
      return (definition.options ?? [])
        .filter((option) => chosen.has(option))
        .sort((a, b) => (a.sortOrder ?? 0) - (b.sortOrder ?? 0))
        .map(({ injectedText }) => injectedText)
        .join(definition.multiChoiceSeparator ?? ', ');
    }
    case 'bool':
      return value === true ? (definition.booleanTextWhenTrue ?? 'true') : (definition.booleanTextWhenFalse ?? 'false');
    default:
      return String(value);
  }
}
