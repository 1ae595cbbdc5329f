/**
 * Words that are common in a language whatever a text is about, without accents where they are often left out. PostgreSQL has a Snowball stemmer for each
 * language by this name, except for those that only keep texts from being taken for a neighbour's: they are in `WITHOUT_STEMMER`.
 */
const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  arabic: 'من في على إلى عن أن هذا هذه التي الذي كان مع ما لا أو كل بعد قبل كما ذلك',
  armenian: 'և է են որ մի այս ու կամ համար հետ որպես նաև եթե բայց',
  basque: 'eta da ez bat hau dira duen izan dute ere edo baina zen dago honen',
  catalan: 'i el la els les de del dels que per amb una un és no en al com més són aquest aquesta però ha pot seu seva',
  danish:
    'og i at det er en den til på for med de som af der ikke har kan et om du jeg vi fra din hvis eller også blive',
  dutch:
    'de het een en van in is dat op te voor met zijn niet aan er om u je ook als maar bij dit deze worden kan hebben naar wordt',
  english:
    'the of and to in a is that for it as was with be by on not this are or from you your have an can if which will',
  finnish: 'ja on ei se että tai joka ovat myös sekä kun mutta voi niin jos oli tämä sen mukaan ole',
  french:
    'le la les de des du et en un une est que qui pour dans par sur pas au aux ce il vous avec ne se ou sont plus cette votre être',
  german:
    'der die das und ist in den von zu mit nicht ein eine auf für dem des sie im werden sich auch es an als wird oder bei sind wenn kann',
  greek: 'και το να η ο του της την των με για που σε από είναι τα οι στο στη ότι',
  hindi: 'के है में की और को से का यह पर कि एक ने हैं भी नहीं हो कर इस आप',
  hungarian: 'a az és hogy nem is egy ez van de meg el csak ha vagy mint kell már lehet azt ki be',
  indonesian: 'yang dan di dengan untuk dari pada ini itu adalah tidak dalam akan atau ke oleh dapat anda juga sebagai',
  irish: 'agus an na ar is go do le sé ní tá bhí sa mar ach seo sin atá',
  italian:
    'il lo la i gli le di del della dei e è un una che per non in con si sono al da come più nel alla anche questo può',
  lithuanian: 'ir yra kad su į iš tai kaip ne ar bet nuo per už jo kai gali būti',
  norwegian: 'og i det er på en som til for av at med de ikke har den kan et om du jeg vi fra hvis eller også bli',
  portuguese:
    'o a os as de do da dos e que em um uma para com não por no na se mais ao é são como ou seu sua pode você',
  romanian: 'și de la în a cu nu pe un o este care să din pentru ce mai sunt se fi sau că al',
  russian: 'и в не на что с по как это для к из от у а но или за о вы если можно при все бы так же до',
  serbian: 'i u je da se na za su od ne sa koji ili kao biti što и у је да се на за су од са који или као што',
  spanish:
    'el la los las de del y que en un una es por para con no se su al lo como más o pero sus este puede son está usted',
  swedish: 'och i att det som en på är av för med till den har de inte om ett du kan man från eller din vi jag också',
  tamil: 'ஒரு மற்றும் இந்த என்று அந்த இது உள்ள என்ற',
  turkish: 've bir bu için ile de da çok olarak daha olan gibi ne var en kadar sonra veya değil ama',
  yiddish: 'און די דער אין איז פון צו דאס אויף מיט ניט',
  bulgarian: 'на и в е да за се от с не са по че като или към може при това ще',
  czech: 'a v se na je že s z do i to o k pro jako nebo které který by ale jsou však',
  persian: 'در و به از که این را با است برای آن یک می تا خود',
  polish: 'w i na z do się nie to że o jest za od po jak lub dla przez są który',
  slovak: 'a v sa na je že s z do aj to o k pre ako alebo ktoré ktorý by ale sú',
  ukrainian: 'і в не на що з до як це для та у за від або є про ви якщо але',
  urdu: 'کے میں ہے کی اور سے کا کو پر نے یہ کہ ہیں ایک',
  vietnamese: 'và của là có cho các không được trong một với những để này đã khi',
};

const WITHOUT_STEMMER = new Set([
  'bulgarian',
  'czech',
  'persian',
  'polish',
  'slovak',
  'ukrainian',
  'urdu',
  'vietnamese',
]);

const BY_WORD = new Map<string, string[]>();
for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
  for (const word of new Set(words.split(' '))) BY_WORD.set(word, [...(BY_WORD.get(word) ?? []), language]);
}

const LONGEST = Math.max(...[...BY_WORD.keys()].map(({ length }) => length));

/** A text with less of its language's common words is a list of names, a program, or in a language that is not known here. */
const ENOUGH_SHARE = 0.05;
/** So few common words may be there by chance. */
const FEW = 3;

/**
 * The language of a text, by its most common words: the name of PostgreSQL's stemmer for it, without `_stem`. Undefined when it cannot be told or has no stemmer.
 * @param words in lower case, with their accents
 * @param among only these are considered
 */
export function languageOfWords(words: Iterable<string>, among?: readonly string[]): string | undefined {
  const hits = new Map<string, number>();
  let all = 0;
  for (const word of words) {
    all += 1;
    if (word.length > LONGEST) continue;
    for (const language of BY_WORD.get(word) ?? []) {
      if (!among?.length || among.includes(language)) hits.set(language, (hits.get(language) ?? 0) + 1);
    }
  }
  const [best, next] = [...hits].sort(([, a], [, b]) => b - a);
  if (!best || best[1] < all * ENOUGH_SHARE || WITHOUT_STEMMER.has(best[0])) return undefined;
  // With few common words, those of another language must be fewer still.
  if (best[1] < FEW && next?.[1] === best[1]) return undefined;
  return best[0];
}

/**
 * Whether a question is in another language than English, as far as its words, its script, or else the language of most of what is searched tell.
 * @param searched a name as of `languageOfWords`
 */
export function isForeign(question: string, searched: string | undefined): boolean {
  const told = languageOfWords(wordsOf(question));
  if (told !== undefined) return told !== 'english';
  const letters = question.match(/\p{L}/gu)?.length ?? 0;
  const latin = question.match(/\p{Script=Latin}/gu)?.length ?? 0;
  if (latin < letters / 2) return true;
  return searched !== undefined && searched !== 'english';
}

/** Passages that are looked at to learn the languages of a source. */
const SAMPLED = 400;
/** Characters of each. */
const SAMPLED_CHARS = 1_000;
/** A language of a smaller share of the passages is taken for a mistake or a quotation. */
const MIN_SHARE = 0.05;
const WORDS = /[\p{L}\p{M}]+/gu;

/** The languages of a source, the most common one first, by passages from all over it; empty when none can be told. */
export function languagesOf(contents: readonly string[]): string[] {
  const step = Math.max(1, contents.length / SAMPLED);
  const counts = new Map<string, number>();
  const together: string[] = [];
  let seen = 0;
  for (let at = 0; at < contents.length; at += step) {
    const words = wordsOf((contents[Math.floor(at)] ?? '').slice(0, SAMPLED_CHARS));
    seen += 1;
    if (together.length < 20_000) together.push(...words);
    const language = languageOfWords(words);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const known = [...counts].filter(([, count]) => count >= seen * MIN_SHARE).sort(([, a], [, b]) => b - a);
  if (known.length > 0) return known.map(([language]) => language);
  const whole = languageOfWords(together);
  return whole === undefined ? [] : [whole];
}

/** The words of a text as `languageOfWords` takes them. */
export function wordsOf(text: string): string[] {
  return text.normalize('NFC').toLowerCase().match(WORDS) ?? [];
}
