# Reads the tables of tests/mutation; mutate.sh says what they hold. Makes the edited copies below `work`, where one
# that is right already is left alone, and prints a line for each mutant, in fields parted by tabs: name, file, what
# it means, and why it is equivalent, if it is.

function die(text) {
  printf "mutate: %s:%d: %s\n", table, begun ? begun : FNR, text >"/dev/stderr"
  failed = 1
  exit 2
}

function contentOf(path, line, text) {
  text = ""
  while ((getline line <path) > 0) text = text line "\n"
  close(path)
  return text
}

function times(text, part, n, at) {
  n = 0
  while ((at = index(text, part)) > 0) {
    n++
    text = substr(text, at + length(part))
  }
  return n
}

function finish(text, start, at, copy) {
  if (!begun) return
  if (!(file in original)) original[file] = contentOf(file)
  text = original[file]
  if (text == "") die(name ": there is no file '" file "'")
  if (means == "") die(name " does not say what it means")
  if (old == "") die(name " replaces nothing: a line '- TEXT' is missing")
  if (old == new) die(name " changes nothing")
  start = 1
  if (after != "") {
    if (times(text, after) != 1) die(name ": '" after "' must stand exactly once in " file)
    start = index(text, after) + length(after)
  } else if (times(text, old) != 1) {
    die(name ": '" old "' must stand exactly once in " file)
  }
  at = index(substr(text, start), old)
  if (!at) die(name ": '" old "' does not stand behind '" after "' in " file)
  text = substr(text, 1, start + at - 2) new substr(text, start + at - 1 + length(old))
  copy = work "/" name "/" file
  if (contentOf(copy) != text) {
    system("mkdir -p '" substr(copy, 1, match(copy, "/[^/]*$") - 1) "'")
    printf "%s", text >copy
    close(copy)
  }
  printf "%s\t%s\t%s\t%s\n", name, file, means, why
  begun = 0
  means = why = after = old = new = ""
  olds = news = 0
}

FNR == 1 {
  finish()
  table = FILENAME
  file = ""
}
/^$/ || /^#/ { next }
/^file / {
  finish()
  file = substr($0, 6)
  next
}
/^mutant / {
  finish()
  name = table
  sub(".*/", "", name)
  sub("[.]txt$", "", name)
  name = name "." substr($0, 8)
  begun = FNR
  if (name !~ /^[a-z_]+[.][a-z0-9-]+$/) die("'" name "': a name is of a-z, 0-9 and -")
  if (name in seen) die("a second mutant is called " name)
  seen[name] = 1
  next
}
/^means / { means = substr($0, 7); next }
/^equivalent / { why = substr($0, 12); next }
/^after / { after = substr($0, 7); next }
/^-( |$)/ { old = old (olds++ ? "\n" : "") substr($0, 3); next }
/^[+]( |$)/ { new = new (news++ ? "\n" : "") substr($0, 3); next }
{ die("'" $0 "' begins with no word of a table (see the head of mutate.sh)") }
END { if (!failed) finish() }
