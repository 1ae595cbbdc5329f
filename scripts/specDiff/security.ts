import type { Document } from '../../spec/rules/types.ts';
import type { OperationPart } from './messages.ts';

type Requirement = Record<string, string[]>;
type Scheme = Record<string, unknown>;

/** Compares which forms of key an operation accepts: `security` of its own, or else that of the document. */
export function compareSecurity(
  sides: { before: Document; after: Document },
  old: unknown,
  current: unknown,
): OperationPart[] {
  const was = formsOf(sides.before, old ?? sides.before.security);
  const is = formsOf(sides.after, current ?? sides.after.security);
  const parts: OperationPart[] = [];
  for (const [form, name] of was)
    if (!is.has(form))
      parts.push({ kind: 'breaking', place: '', what: `key form \`${name}\` is not accepted any more`, names: [name] });
    else if (is.get(form) !== name)
      parts.push({
        kind: 'generated code',
        place: '',
        what: `key form \`${name}\` is called \`${is.get(form)}\``,
        names: [name],
      });
  for (const [form, name] of is)
    if (!was.has(form))
      parts.push({ kind: 'addition', place: '', what: `key form \`${name}\` is accepted`, names: [name] });
  return parts;
}

/** The accepted forms by what they demand on the wire, with their names. No requirement at all is one form. */
function formsOf(document: Document, security: unknown): Map<string, string> {
  const schemes = (document.components?.securitySchemes ?? {}) as Record<string, Scheme>;
  const list = (security ?? []) as Requirement[];
  return new Map(
    (list.length > 0 ? list : [{}]).map((requirement) => {
      const names = Object.keys(requirement).toSorted();
      const form = names.map((name) => {
        const { bearerFormat: _, ...scheme } = schemes[name] ?? {};
        return JSON.stringify([Object.entries(scheme).toSorted(), requirement[name]]);
      });
      return [form.toSorted().join(' '), names.join(' and ') || 'no key'];
    }),
  );
}
