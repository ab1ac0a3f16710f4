#!/usr/bin/env python3
"""The pages of redviz --html in a headless Chromium: check_pages.py REDVIZ [FOLDER]

Each check opens a page from file://, presses its keys and buttons, looks at its text, and asserts that nothing but the page
itself was requested and that neither the page nor the browser complained. Screenshots stay in FOLDER. Ends with
"N passed, N failed", and how many were skipped; status 1 if a check fails, or cannot be made.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Chromium, find_axe  # noqa: E402

LECTURE = """# A lecture

```lecture
language: en
minutes: 1
needs: no GPU
```

The first stop.

```redviz
--kernel interleaved --n 1024
```

## A number

```redviz
--kernel interleaved --n 1024 --keys ']'
```

Think first.

```predict
How many of the 32 lanes of warp 0 add at distance 4?
topic: divergence
keys: ]
answer: lanes(step) = 4
```

## A choice

```predict
Is `this` a [link](javascript:alert)?
topic: links
choices: no | yes
answer: = no
```

## Lanes

```redviz
--kernel interleaved --n 1024 --keys ']]'
```

```predict
Which lanes add?
topic: divergence
answer: lane_mask(step) = 0x01010101
```

## The ladder

```redviz
--kernel interleaved --n 1024 --keys 'B'
```
"""

HOSTILE_NAME = "]]>'&quot;<b>-->x.cu"
HOSTILE = ("// </script><script>document.title='taken'</script>\n"
           "</style></title><img src=x onerror=alert(1)>\n"
           "<!-- ]]> \x01\x1b[31m \u2028 &amp;\n")
HOSTILE_PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
.reg .b64 %%rd<3>;
.reg .b32 %%r<3>;
.loc 1 1 1
ld.param.u64 %%rd1, [p];
ld.global.u32 %%r1, [%%rd1];
.loc 1 2 1
st.global.u32 [%%rd1], %%r1;
.loc 1 3 1
ret;
}
.file 1 "%s"
"""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(truth, what):
    if not truth:
        raise Failed(what)


class Pages:
    def __init__(self, redviz, folder):
        self.redviz, self.folder, self.browser = os.path.abspath(redviz), folder, Chromium()
        self.environment = dict(os.environ, LC_ALL="C.UTF-8", REDVIZ_CUDA="/nowhere/libcuda.so.1")

    def make(self, name, *arguments):
        path = os.path.join(self.folder, name + ".html")
        run = subprocess.run([self.redviz, *arguments, "--html", path], env=self.environment, cwd=self.folder,
                             capture_output=True, text=True, timeout=300)
        expect(run.returncode == 0 and not run.stderr, "%s: %s" % (" ".join(arguments), run.stderr))
        return path

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return os.path.join(self.folder, name)

    def text(self):
        return self.browser.run("document.getElementById('frame').innerText")

    def note(self):
        return self.browser.run("document.getElementById('note').textContent")

    def expect_text(self, *parts):
        text = self.text().replace("\u00a0", " ")
        for part in parts:
            expect(part in text, "'%s' is not on the screen:\n%s" % (part, text))

    def expect_quiet(self, path, name=None):
        expect(self.browser.requests == ["file://" + path], "requests: %s" % self.browser.requests)
        expect(not self.browser.complaints, "complaints: %s" % self.browser.complaints)
        if name:
            size = self.browser.screenshot(os.path.join(self.folder, name + ".png"))
            expect(size > 20000, "the screenshot %s has %d bytes" % (name, size))

    # ---- checks

    def check_run(self):
        """Keys and buttons step through a run; its frames are those of the interface."""
        b, path = self.browser, self.make("interleaved", "--kernel", "interleaved")
        expect(os.path.getsize(path) < 1000000, "the page has %d bytes" % os.path.getsize(path))
        b.look(1400, 900)
        b.open(path)
        expect(b.run("document.title") == "interleaved - redviz", "the title")
        self.expect_like_the_interface("")
        self.expect_text("beat 6 of 48", "level 1 of 8", "128 of 256 threads add")
        for keys, like in (("]", "]"), ("]", "]]"), ("l", "]]l"), ("h", "]]lh"), ("[", "]]lh["), ("d", "]d"), ("d", "]dd"),
                           ("r", "]ddr"), ("R", "]dd"), ("j", "]ddj"), ("b", "]ddjb"), ("G", "G"), ("h", "Gh"), ("g", "g"),
                           ("ll", "gll")):
            for key in keys:
                b.press(key)
            self.expect_like_the_interface(like)
        for key in ("g", "ArrowRight", "ArrowRight"):
            b.press(key)
        self.expect_text("beat 2 of 48")
        expect(b.run("location.hash") == "#beat-2", "the link")
        b.run("document.querySelector('#buttons button:nth-child(2)').click()")
        self.expect_text("beat 3 of 48")
        self.expect_quiet(path, "run_dark")

    def expect_like_the_interface(self, keys):
        """Compares row by row, except for the last, which has hints."""
        run = subprocess.run([self.redviz, "--kernel", "interleaved", "--frame", "--keys", keys], env=self.environment,
                             capture_output=True, text=True, timeout=100)
        wanted = run.stdout.split("\n")[:39]
        got = [row.rstrip() for row in self.text().split("\n")][:39]
        for row, (a, b) in enumerate(zip(wanted, got)):
            expect(a == b, "after '%s', row %d:\n%s\n%s" % (keys, row, a, b))

    def check_play(self):
        """Play ends at the last frame; a link to a beat opens at that beat."""
        b, path = self.browser, self.make("strided", "--kernel", "strided", "--n", "4096", "--block", "64")
        b.look(1400, 900, "light")
        b.open(path, "#beat-4")
        self.expect_text("beat 4 of ")
        expect(b.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "a light page")
        for _ in range(6):
            b.press("+")
        b.press("End")
        b.press("ArrowLeft")
        before = self.text()
        b.press(" ", " ")
        b.run("new Promise(done => setTimeout(done, 700))")
        expect(self.text() != before and "last frame" in self.note(), "it has not played to its end: " + self.note())
        b.press("n")
        b.press("g")
        b.press("n")
        b.press(".")
        self.expect_text("wavefront")
        self.expect_quiet(path, "play_light")

    def check_phone(self):
        """On a phone: the page is as wide as the screen, the frame scrolls in it; a finger steps."""
        b, path = self.browser, self.make("phone", "--kernel", "shuffle", "--n", "4096")
        b.look(390, 844, "dark", phone=True)
        b.open(path)
        expect(b.run("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen")
        expect(b.run("document.getElementById('frame').scrollWidth > document.getElementById('frame').clientWidth"),
               "the frame does not scroll")
        expect(b.run("parseFloat(getComputedStyle(document.getElementById('frame')).fontSize) >= 9"), "too small to read")
        before = self.text()
        b.tap("#buttons button:nth-child(2)")
        expect(self.text() != before, "a tap does not step")
        b.tap("#buttons button:last-child")
        expect(b.run("document.getElementById('frame').scrollWidth <= document.getElementById('frame').clientWidth + 1"),
               "the frame does not fit")
        self.expect_quiet(path, "phone")

    def lecture(self, *options):
        return self.make("lecture" + "".join(options), "--lecture", self.write("lecture.md", LECTURE), *options)

    def check_lecture(self):
        """Goes from stop to stop; right, wrong and missing answers; the score."""
        b, path = self.browser, self.lecture()
        b.look(1400, 900)
        b.open(path)
        shown = "Array.from(document.querySelectorAll('.stop')).filter(e => e.offsetParent).map(e => e.id).join()"
        expect(b.run(shown) == "stop-1", "the first stop")
        b.press("PageDown")
        expect(b.run(shown) == "stop-2" and b.run("location.hash") == "#stop-2", "the second stop")
        hidden = self.text()
        expect("16/32" not in hidden and "covered until you answer" in hidden, "the answer is not covered:\n" + hidden)
        b.press("ArrowRight")
        expect(self.text() == hidden, "a question that waits lets the reader step on")
        b.press("5")
        b.press("Backspace")
        b.press("4")
        b.press("Enter", "\r")
        verdict = "document.querySelector('.stop.now .verdict').textContent"
        expect(b.run(verdict) == "Right: 4", "the verdict: " + b.run(verdict))
        b.run("new Promise(done => setTimeout(done, 1500))")
        self.expect_text("4/32")
        b.press("PageDown")
        expect(b.run(shown) == "stop-3", "the third stop")
        expect(b.run("document.querySelectorAll('.stop.now a').length") == 0, "an address that is a script")
        b.press("2")
        expect(b.run(verdict) == "No, it is no (your answer: yes)", "the verdict: " + b.run(verdict))
        b.press("PageDown")
        for lane in (0, 8, 16, 25):
            b.run("document.querySelectorAll('.stop.now .marks button')[%d].click()" % lane)
        expect(b.run("document.querySelector('.stop.now input').value") == "0x2010101", "lanes that were pointed at")
        b.run("document.querySelectorAll('.stop.now .marks button')[25].click()")
        b.run("document.querySelectorAll('.stop.now .marks button')[24].click()")
        b.run("Array.from(document.querySelectorAll('.stop.now .question > button')).find(e => e.textContent === 'Answer').click()")
        expect(b.run(verdict) == "Right: 0x01010101", "the verdict: " + b.run(verdict))
        b.press("PageDown")
        score = b.run("document.querySelector('.stop.now .score').textContent")
        expect(score == "Your answers: 2 of 3 right: divergence 2 of 2, links 0 of 1", score)
        self.expect_text("interleaved_bitmask", "fastest")
        self.expect_quiet(path, "lecture")

    def check_links(self):
        """A link to a stop; in a lecture without answers, no question waits."""
        b, path = self.browser, self.lecture("--no-predict")
        b.look(1400, 900, "light")
        b.open(path, "#stop-4")
        self.expect_text("4/32")
        expect(b.run("document.querySelectorAll('.lanes').length") == 0, "it asks")
        expect("stop 4 of 5" in self.note(), self.note())
        self.expect_quiet(path, "link_light")

    def check_quiz(self):
        """The questions of --predict about a run form a lecture, too."""
        b, path = self.browser, self.make("quiz", "--kernel", "interleaved", "--n", "4096", "--predict")
        b.look(1400, 900)
        b.open(path)
        b.press("8")
        b.press("Enter", "\r")
        verdict = b.run("document.querySelector('.stop.now .verdict').textContent")
        expect(verdict == "Right: 8", "the verdict: " + verdict)
        b.press("PageDown")
        expect("stop 2 of " in self.note() and "hidden" in self.note(), self.note())
        self.expect_quiet(path, "quiz")

    def check_shipped(self):
        """A shipped lecture, in both languages: every stop, its question skipped, its run to the end."""
        b = self.browser
        b.look(1400, 900)
        for language in ("en", "zh"):
            path = self.make("ladder." + language, "--lecture", "ladder", "--language", language)
            expect(os.path.getsize(path) < 6000000, "the page has %d bytes" % os.path.getsize(path))
            b.open(path)
            stops = b.run("document.querySelectorAll('.stop').length")
            expect(stops >= 10, "%d stops" % stops)
            for stop in range(1, stops + 1):
                expect(b.run("document.documentElement.dataset.stop") == str(stop), "stop %d" % stop)
                if b.run("!!document.querySelector('.stop.now .verdict')"):
                    b.press("PageDown")  # shows the answer
                    expect(b.run("document.querySelector('.stop.now .verdict').textContent") != "", "no answer is shown")
                for key in ("G", "h", "]", "g"):
                    b.press(key)
                expect(len(self.text().split()) > 50, "stop %d is empty" % stop)
                b.press("PageDown")
            expect(b.run("!!document.querySelector('.stop.now .score')"), "there is no score")
            self.expect_quiet(path, "ladder_" + language)

    def check_notes(self):
        """The presenter's view: notes in a second window, each window follows the other; text that is hidden or larger."""
        b, path = self.browser, self.lecture()
        b.look(1400, 900)
        b.open(path, "#stop-2")
        of = "document.getElementById('%s').textContent"
        b.press("n")
        with b.window("notes - A lecture"):
            now = b.run(of % "now")
            expect("Think first." in now and "at distance 4?" in now and "The answer: 4" in now, "the notes: " + now)
            expect(b.run(of % "follows") == "Next: A choice", "what follows: " + b.run(of % "follows"))
            expect(re.fullmatch(r"\d+:\d\d", b.run(of % "elapsed")) and re.fullmatch(r"\d\d:\d\d", b.run(of % "time")), "the clocks")
            expect(b.run("!document.querySelector('#now button, #now input')"), "the notes ask")
            size = "parseFloat(getComputedStyle(document.getElementById('now')).fontSize)"
            before = b.run(size)
            b.press("+")
            expect(b.run(size) > before, "the notes have not grown")
            expect(b.screenshot(os.path.join(self.folder, "notes.png")) > 20000, "the screenshot of the notes")
            b.press("PageDown")  # shows the answer
        expect(b.run("document.querySelector('.stop.now .verdict').textContent") == "The answer: 4", "no answer is shown")
        b.press("PageDown")
        expect(b.run("location.hash") == "#stop-3", "the third stop")
        with b.window("notes - A lecture"):
            expect("Is this a" in b.run(of % "now"), "the notes do not follow: " + b.run(of % "now"))
            b.press("1")
            b.run("Array.from(document.querySelectorAll('#buttons button')).find(e => e.textContent.includes('next stop')).click()")
        expect(b.run("location.hash") == "#stop-4", "the page does not follow")
        verdict = b.run("document.querySelector('#stop-3 .verdict').textContent")
        expect(verdict == "Right: no", "the choice: " + verdict)
        b.press("PageUp")
        b.press("PageDown")
        b.press("PageDown")
        b.press("PageDown")
        with b.window("notes - A lecture"):
            expect(b.run(of % "follows") == "This is the last stop.", "the last stop: " + b.run(of % "follows"))
        size = "parseFloat(getComputedStyle(document.getElementById('%s')).fontSize)"
        text, frame = b.run(size % "text"), b.run(size % "frame")
        b.press("+")
        expect(b.run(size % "text") > text, "the text has not grown")
        b.press("-")
        b.press("t")
        expect(b.run("!document.getElementById('text').offsetParent") and b.run(size % "frame") > frame, "t does not hide the text")
        b.press("t")
        expect(b.run(size % "text") == text and b.run(size % "frame") == frame, "t does not show the text again")
        self.expect_quiet(path)
        b.open(self.lecture("--no-predict"))  # the notes close with their page
        b.press("n")
        with b.window("notes - A lecture"):
            pass
        b.open(path)

    def four(self):
        """A page of a run and one of a lecture, both in each language."""
        for language in ("en", "zh"):
            for kind, name in (("kernel", "strided"), ("lecture", "banks")):
                path = self.make(name + "." + language, "--" + kind, name, "--language", language)
                yield path, "%s_%s" % (name, language), language, kind == "lecture"

    def check_fits(self):
        """In usual windows all is seen at once: no cut line, no frame below the buttons."""
        b = self.browser
        box = "document.getElementById('%s').getBoundingClientRect()"
        for path, name, _, is_lecture in self.four():
            for size in ((1280, 800), (1920, 1080)):
                b.look(*size)
                b.open(path)
                for stop in range(b.run("Math.max(1, document.querySelectorAll('.stop').length)")):
                    where = "%s, stop %d, at %dx%d: " % (name, stop + 1, *size)
                    expect(b.run("(f => f.scrollWidth <= f.clientWidth && f.scrollHeight <= f.clientHeight)"
                                 "(document.getElementById('frame'))"), where + "the frame is cut off")
                    expect(b.run("%s.bottom <= %s.top && %s.bottom <= innerHeight" % (box % "frame", box % "buttons", box % "buttons")),
                           where + "the buttons lie over the frame, or below the window")
                    expect(b.run("document.documentElement.scrollWidth <= innerWidth"), where + "the page is wider than the window")
                    expect(b.run("(t => t.scrollWidth <= t.clientWidth)(document.getElementById('text'))"), where + "wide text")
                    if is_lecture:
                        b.run("location.hash = '#stop-%d'" % (stop + 2))
                        b.run("new Promise(done => setTimeout(done, 20))")
                self.expect_quiet(path, "%s_%d" % (name, size[0]))

    def check_axe(self):
        """axe-core finds nothing: dark and light, where a question waits, in the notes."""
        if not find_axe():
            raise Skipped("axe-core is not here")
        b, pages = self.browser, [(path, "") for path, _, _, _ in self.four()]
        for path, fragment in pages + [(self.lecture(), "#stop-%d" % stop) for stop in (2, 3, 4)]:
            for scheme in ("dark", "light"):
                b.look(1280, 800, scheme)
                b.open(path, fragment)
                found = b.axe()
                expect(not found, "%s%s, %s: %s" % (os.path.basename(path), fragment, scheme, found))
        b.press("n")
        with b.window("notes - A lecture"):
            found = b.axe()
            expect(not found, "notes: %s" % found)
        b.open("/dev/null")

    def check_focus(self):
        """Tab reaches each control, and shows where it is; Enter presses it."""
        b = self.browser
        reachable = ("Array.from(document.querySelectorAll('a, button, input, [tabindex]')).filter(e => e.offsetParent && "
                     "!e.disabled).length")
        for path, fragment in ((self.make("focus", "--kernel", "strided"), ""), (self.lecture(), "#stop-4")):
            b.look(1280, 800)
            b.open(path, fragment)
            wanted, seen = b.run(reachable), 0
            b.press("Tab")
            while b.run("document.activeElement !== document.body") and seen < 200:
                outline = b.run("(s => [s.outlineStyle, parseFloat(s.outlineWidth)])(getComputedStyle(document.activeElement))")
                expect(outline[0] != "none" and outline[1] >= 2, "no focus is seen: " + b.run("document.activeElement.outerHTML")[:200])
                seen += 1
                b.press("Tab")
            expect(seen == wanted, "Tab reaches %d of %d" % (seen, wanted))
        b.open(path, "#stop-1")
        b.run("document.querySelector('#buttons button:nth-child(4)').focus()")
        before = self.text()
        b.press("Enter", "\r")
        expect(self.text() != before, "Enter does not press the button")

    def check_chinese(self):
        """A Chinese page has no English words around its frame and its text, apart from names."""
        b = self.browser
        names = {"bank", "level", "wavefront", "hazard", "redviz", "PgUp", "PgDn", "JavaScript"}
        words = ("Array.from(document.querySelectorAll('button, input, #note, #open, .verdict, noscript, #frame, #clocks, #where, "
                 "#follows')).map(e => [e.getAttribute('aria-label') || '', e.placeholder || '', e.title, "
                 "e.id === 'frame' || e.closest('.choices') ? '' : Array.from(e.childNodes, n => n.textContent).join(' ')].join(' ')).join(' ')")
        self.write("redviz.html", "")
        for path, name, language, is_lecture in self.four():
            if language != "zh":
                continue
            b.look(1280, 800)
            b.open(path)
            expect(b.run("document.documentElement.lang") == "zh", name + ": the language of the page")
            b.press("End")
            said = b.run(words)
            if is_lecture:
                b.press("n")
                with b.window("备注 - "):
                    expect(b.run("document.documentElement.lang") == "zh", "the language of the notes")
                    said += b.run(words)
            english = set(re.findall("[A-Za-z]{2,}", said)) - names
            expect("在 redviz 中打开" in said and not english, "%s: %s in: %s" % (name, english, said))
            b.open("/dev/null")
        os.remove(os.path.join(self.folder, "redviz.html"))

    def check_hostile(self):
        """Names and source lines that look like markup are text."""
        self.write(HOSTILE_NAME, HOSTILE)
        name = self.write("<script>x.ptx", HOSTILE_PTX % HOSTILE_NAME)
        b, path = self.browser, self.make("hostile", name, "--args", "a=int[n]:iota, n", "--n", "64", "--frame=200x50")
        b.look(1900, 1000)
        b.open(path)
        self.expect_text("// </script><script>document.title='taken'</script>", "<!-- ]]> ??[31m ? &amp;",
                         "</style></title><img src=x onerror=alert(1)>", "source  " + HOSTILE_NAME)
        expect(b.run("document.title").endswith(" - redviz"), b.run("document.title"))
        expect(b.run("document.images.length") == 0 and b.run("document.scripts.length") == 2, "markup came through")
        self.expect_quiet(path, "hostile")

    def check_movie(self):
        """An animated image shows its frames one after another."""
        path = os.path.join(self.folder, "movie.svg")
        run = subprocess.run([self.redviz, "--kernel", "interleaved", "--frame=100x36", "--svg", "--keys", "{1s}]{1s}]{60s}"],
                             env=self.environment, capture_output=True, text=True, timeout=100)
        expect(run.returncode == 0, run.stderr)
        self.write("movie.svg", run.stdout)
        b = self.browser
        b.look(1000, 700)
        b.open(path)
        seen = ("Array.from(document.querySelectorAll('text')).filter(e => getComputedStyle(e).visibility === 'visible')"
                ".map(e => e.textContent).join(' ')")
        at = "document.getAnimations().forEach(a => { a.pause(); a.currentTime = %d; })"
        for time, level in ((100, 1), (1100, 2), (2100, 3)):
            b.run(at % time)
            expect("level %d of 8" % level in " ".join(b.run(seen).split()), "level %d is not seen" % level)
        self.expect_quiet(path, "movie")


def main():
    folder = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="redviz-html-")
    os.makedirs(folder, exist_ok=True)
    pages, passed, failed, skipped = Pages(sys.argv[1], folder), 0, 0, 0
    for name in sorted(name for name in dir(Pages) if name.startswith("check_")):
        try:
            getattr(pages, name)()
            passed += 1
            print("  passed   " + name[len("check_"):])
        except Skipped as why:
            skipped += 1
            print("  skipped  %s: %s" % (name[len("check_"):], why))
        except Failed as why:
            failed += 1
            print("  FAILED   %s: %s" % (name[len("check_"):], why))
    pages.browser.close()
    print("%d passed, %d failed" % (passed, failed) + (", %d skipped" % skipped if skipped else ""))
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
