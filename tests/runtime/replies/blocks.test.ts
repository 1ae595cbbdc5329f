import { replyBlocks } from '../../../runtime/replies/blocks.ts';

/** The blocks of a text as `kind: text`, with a leading `+` when no blank line precedes the block. */
const blocksOf = (text: string) =>
  replyBlocks(text).map(
    ({ kind, start, end, apart }, place) => `${place > 0 && !apart ? '+' : ''}${kind}: ${text.slice(start, end)}`,
  );

test.each([
  ['one\ntwo\n\nthree', ['paragraph: one\ntwo', 'paragraph: three']],
  ['\n \n  one', ['paragraph:   one']],
  ['one\n\t \ntwo', ['paragraph: one', 'paragraph: two']],
  ['# one\ntwo\n\n#three', ['heading: # one', '+paragraph: two', 'paragraph: #three']],
  ['one\n===\ntwo', ['heading: one\n===', '+paragraph: two']],
  ['one\n---\n\n---', ['heading: one\n---', 'paragraph: ---']],
  [
    'one\n- two\nlazy\n\n  more\n\n+ three\n• four',
    ['paragraph: one', '+list: - two\nlazy\n\n  more', 'list: + three\n• four'],
  ],
  ['- one\n  > two\n  | three\n\n\tfour', ['list: - one\n  > two\n  | three\n\n\tfour']],
  ['- one\n# two', ['list: - one', '+heading: # two']],
  ['1. one\n10. two\n3.no item', ['list: 1. one\n10. two\n3.no item']],
  ['1) one\n10. two', ['list: 1) one', '+list: 10. two']],
  ['• one\n• two\n\nthree', ['list: • one\n• two', 'paragraph: three']],
  ['one\n\n    two\n\nthree', ['paragraph: one\n\n    two', 'paragraph: three']],
  [
    '[one]: https://a.example\n\n<b>\n\ntwo',
    ['paragraph: [one]: https://a.example', 'paragraph: <b>', 'paragraph: two'],
  ],
  ['-one\n**two** three', ['paragraph: -one\n**two** three']],
  ['> one\nlazy\n\n> two\n> ```', ['quote: > one\nlazy', 'quote: > two\n> ```']],
  ['one\n| a |\n|---|\nb\n\nc', ['paragraph: one', '+table: | a |\n|---|\nb', 'paragraph: c']],
  ['a | b\n:-: | --\nc | d\n\ne', ['table: a | b\n:-: | --\nc | d', 'paragraph: e']],
  ['```js\n\n# one\n```\ntwo', ['code: ```js\n\n# one\n```', '+paragraph: two']],
  ['one\n~~~\n```\n\n~~~~\n\ntwo', ['paragraph: one', '+code: ~~~\n```\n\n~~~~', 'paragraph: two']],
  ['````\n```\n\n````\n\none', ['code: ````\n```\n\n````', 'paragraph: one']],
  ['```\none\n``` two\n\nthree', ['code: ```\none\n``` two\n\nthree']],
  ['```one``` two\n\nthree', ['paragraph: ```one``` two', 'paragraph: three']],
  ['- ```\n  one\n\n  two\n  ```\n\nthree', ['list: - ```\n  one\n\n  two\n  ```', 'paragraph: three']],
  ['one\r\n\r\n- two\r\n- three\r\n', ['paragraph: one', 'list: - two\r\n- three']],
])('%j', (text, blocks) => {
  expect(blocksOf(text)).toEqual(blocks);
});
