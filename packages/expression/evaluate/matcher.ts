export { compileMatcher } from '/work/wt-regex/packages/expression/regex/matcher.ts';
