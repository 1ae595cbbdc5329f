import { checkQuery, parameterNames } from '../../../../runtime/tools/databaseQuery/databaseQuery.ts';
import { bindable } from '../../../../runtime/tools/databaseQuery/sql.ts';
import { mainThreadMs } from '../../../support/processorTime.ts';

describe('parameterNames', () => {
  test.each([
    ['select :a', ['a']],
    ['select :b, :a, :b', ['b', 'a']],
    ['select :a::text, (:b)::int', ['a', 'b']],
    ['select :_x1 from t where y>:Y2', ['_x1', 'Y2']],
    ["select 'it''s :no', :yes", ['yes']],
    ["select e'it\\'s :no', E'\\\\', :yes", ['yes']],
    ["select 'back\\', :yes", ['yes']],
    ["select e'a'\n  'b\\' :no', :yes", ['yes']],
    ["select e'a' -- :no '\n  'b\\' :no', :yes", ['yes']],
    ["select e'a' 'b\\', :yes --'", ['yes']],
    ["select name'a\\', :yes", ['yes']],
    ['select "a "" :no", :yes', ['yes']],
    ['select U&\'\\0041 :no\', U&"d\\0061t :no", :yes', ['yes']],
    ["select $$ ' :no $$, :yes", ['yes']],
    ['select $tag$ $$ :no $other$ :no $tag$, :yes', ['yes']],
    ['select a$b$ , :yes, c$b$', ['yes']],
    ['select 1 -- :no\n, :yes', ['yes']],
    ['select 1 /* :no /* :no */ :no */, :yes', ['yes']],
    ['select 1 /*/ :no */, :yes', ['yes']],
    ['select 2*/* :no */:yes', ['yes']],
    ['select f(a := :yes, b => :too)', ['yes', 'too']],
    ['select a[1:2], a[:yes], a[lo:hi], a[lo: :too], a[f(1):hi], a["x":hi]', ['yes', 'too']],
    ['select array[:a, :b], array[case when :c then :d end], m[array_length(:e, 1)]', ['a', 'b', 'c', 'd', 'e']],
    ['select array[x = :a, not :b], array[(select :c)]', ['a', 'b', 'c']],
    ['select \'{"a": 1}\'::jsonb -> :key, d at time zone :zone', ['key', 'zone']],
    ['select :größe', ['größe']],
    ['select : x, :1', []],
    ['', []],
  ])('%s', (query, names) => {
    expect(parameterNames(query)).toEqual(names);
  });

  test('takes time in proportion to the text', async () => {
    const ms = await mainThreadMs(() => {
      for (const part of ['-', '/*', "'", '$a', '$', ':', '[', "e'\n", '--\n', "'a'\n"])
        parameterNames(part.repeat(40_000 / part.length));
    });
    expect(ms).toBeLessThan(5000);
  });
});

describe('bindable', () => {
  test('numbers each name once and leaves everything else as it is', () => {
    const { text, names } = bindable("select :a, ':a', :b::int, :a -- :b");
    expect(text).toBe("select $1, ':a', $2::int, $1 -- :b");
    expect(names).toEqual(['a', 'b']);
  });

  test('maps positions back to the original query', () => {
    const query = 'select :first, :second, here';
    const { text, placeOf } = bindable(query);
    expect(placeOf(text.indexOf('here'))).toBe(query.indexOf('here'));
    expect(placeOf(text.indexOf('$2'))).toBe(query.indexOf(':second'));
    expect(placeOf(3)).toBe(3);
  });
});

describe('checkQuery', () => {
  test.each([
    'select 1',
    'SELECT 1;',
    'select 1 ; ; -- the end',
    '  /* why */ with x as (select 1) select * from x',
    'values (1), (2)',
    'table notes',
    '((select 1) union (select 2))',
    'select \';\', ";", $$;$$ -- ; delete from notes',
  ])('accepts %s', (query) => {
    expect(checkQuery(query)).toBeUndefined();
  });

  test.each([
    ['', 'empty'],
    [' -- nothing', 'empty'],
    ['(', 'empty'],
    [';', 'empty'],
    ['select 1; select 2', 'one statement'],
    ['select 1; commit; delete from notes', 'one statement'],
    ['insert into notes values (1)', 'begin with'],
    ['delete from notes', 'begin with'],
    ['explain analyze delete from notes', 'begin with'],
    ['do $$ begin end $$', 'begin with'],
    ['copy notes to program $$id$$', 'begin with'],
    ["'select'", 'begin with'],
    ["select 'open", 'ends inside'],
    ["select e'open\\'", 'ends inside'],
    ['select "open', 'ends inside'],
    ['select $a$ open $b$', 'ends inside'],
    ['select /* open /* */', 'ends inside'],
    ['select $1', ':name'],
    ['select :a, $1', ':name'],
    ['select \0', 'NUL'],
  ])('refuses %j', (query, why) => {
    expect(checkQuery(query)).toContain(why);
  });

  test('refuses a query that has too many parameters', () => {
    const names = Array.from({ length: 501 }, (_, place) => `:p${place}`);
    expect(checkQuery(`select ${names.join()}`)).toContain('parameters');
    expect(checkQuery(`select ${names.slice(1).join()}`)).toBeUndefined();
  });
});
