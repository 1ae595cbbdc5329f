/** A form as Rack and Stripe read it. */
export type FormFields = { [name: string]: FormValue };
type FormValue = string | FormValue[] | FormFields;

/**
 * Reads application/x-www-form-urlencoded as Stripe's API and Rack do: `a[b]=1` is a field of an object, `a[]=1` an item of a list, and
 * `a[0][b]=1` one of a numbered list. Written apart from what the service sends, and strict: throws an Error for a name that comes twice,
 * and for numbers that leave an item out.
 */
export function formFields(body: string): FormFields {
  const root: FormFields = {};
  for (const pair of body === '' ? [] : body.split('&')) {
    const [name = '', value = '', ...more] = pair.split('=');
    if (more.length > 0) throw new Error(`= within ${pair}`);
    const text = decodeURIComponent(value.replaceAll('+', ' '));
    const plain = decodeURIComponent(name.replaceAll('+', ' '));
    const keys = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(plain);
    if (!keys) throw new Error(`the name ${plain}`);
    set(root, [keys[1] ?? '', ...[...(keys[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map(([, key]) => key ?? '')], text);
  }
  return root;
}

function set(target: FormFields | FormValue[], [key = '', ...rest]: string[], text: string): void {
  const isList = Array.isArray(target);
  if (isList !== (key === '' || /^\d+$/.test(key)))
    throw new Error(`${key} in what is ${isList ? 'a list' : 'an object'}`);
  const at = isList ? (key === '' ? target.length : Number(key)) : key;
  if (isList && Number(at) > target.length) throw new Error(`an item before ${at} is missing`);
  const fields = target as FormFields;
  if (rest.length === 0) {
    if (Object.hasOwn(fields, at)) throw new Error(`${key} comes twice`);
    fields[at] = text;
    return;
  }
  if (!Object.hasOwn(fields, at)) fields[at] = rest[0] === '' || /^\d+$/.test(rest[0] ?? '') ? [] : {};
  set(fields[at] as FormFields, rest, text);
}
