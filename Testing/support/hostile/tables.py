"""What people write or edit themselves: saved settings, lists of cases, protocols, and the names of structures."""

from __future__ import annotations

from . import Measured, Row
from .builders import MOVED, SHIFTED, save

PLACE = '"size": [9, 9, 9], "matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]'
GRID = f'{{"settings": {{"grid": {{{PLACE}, "planar": false}}}}}}'

# What the file given as --settings holds, and the outcome.
SETTINGS = {
    "no text": (bytes(range(256)),),
    "nothing": ("",),
    "something else": ('{"a": 1}',),
    "100,000 lists in each other": ("[" * 100_000,),
    "a number of 5000 digits": ('{"settings": {"tolerances": [1%s]}}' % ("0" * 5000),),
    "a setting that there is not": ('{"settings": {"__class__": "os.system"}}',),
    "the name of a module": ('{"settings": {"convention": "__import__"}}', ("'__import__'",)),
    "NaN": ('{"settings": {"tolerances": [NaN]}}', ("nan",)),
    "true for a number": ('{"settings": {"tolerances": true}}', ("True",)),
    "10,000 tolerances": (f'{{"settings": {{"tolerances": {[n / 100 for n in range(1, 10_001)]}}}}}', ("10000",)),
    "a grid of half voxels": (GRID.replace("[9, 9, 9]", "[8.5, 9, 9]"), ("grid",)),
    "a grid in perspective": (GRID.replace("0, 0, 0, 1]", "9, 9, 9, 0]"), ("grid",)),
    "a grid that says yes in words": (GRID.replace("false", '"false"'), ("grid",)),
    "a mark of its encoding": ('\ufeff{"settings": {"tolerances": [1]}}', Measured(MOVED)),
}

RULE = "Structure,Measurement,Relation,Pass\n"
# What the file given as --protocol holds, and the outcome.
PROTOCOLS = {
    "no text": (bytes(range(128, 256)),),
    "zeros": (bytes(100),),
    "nothing": ("", ("Structure,Measurement,Relation,Pass",)),
    "a web page": ("<html><body>Please log in</body></html>", ("'<html><body>Please log in</body></html>'",)),
    "a quotation without end": (f'{RULE}"Liver,DSC,>=,0.9\n', ("2",)),
    "a cell of 200,000 letters": (f"{RULE}{'x' * 200_000},DSC,>=,0.9\n", ("2",)),
    "more cells than columns": (f"{RULE}Liver,DSC,>=,0.9,1,2\n", ("2", "6", "4")),
    "a limit that is no number": (f"{RULE}Liver,DSC,>=,nan\n", ("2", "Pass", "nan")),
    "a limit that cannot be": (f"{RULE}Liver,DSC,>=,90\n", ("2", "Pass", "DSC", "90")),
    "code for a measurement": (f"{RULE}Liver,__import__('os'),>=,1\n", ("2", "Measurement", "__import__('os')")),
    "10,000 stars for a name": (f"{RULE}{'*' * 10_000}x,DSC,>=,0.5\n", Measured(MOVED)),
}

HEADING = "case,reference,test\n"
# What the list of cases holds, the exit status, and what is told beside its name, or of a structure's file.
CASES = {
    "no text": (bytes(range(128, 256)), 2),
    "UTF-16": (f"{HEADING}a,ref.nrrd,odd.nrrd".encode("utf-16"), 2),
    "zeros": (bytes(100), 2),
    "nothing": ("", 2, "case,reference,test"),
    "a heading": (HEADING, 2),
    "no column test": ("case,reference\na,b\n", 2, "1", "test"),
    "a column twice": ("case,case,reference,test\n", 2, "1", "2", "case"),
    "more cells than columns": (f"{HEADING}a,b,c,d\n", 2, "2", "4", "3"),
    "a quotation without end": (f'{HEADING}"a,ref.nrrd,odd.nrrd\n', 2, "2"),
    "a cell of 200,000 letters": (f"{HEADING}{'x' * 200_000},ref.nrrd,odd.nrrd\n", 2, "2"),
    "a case twice": (f"{HEADING}a,ref.nrrd,odd.nrrd\na,ref.nrrd,odd.nrrd\n", 1, "a: ", "3", "2"),
    "no reference": (f"{HEADING}a,,odd.nrrd\n", 2, "a: ", "2", "reference"),
    "an address": (f"{HEADING}a,http://localhost:1/x.nrrd,odd.nrrd\n", 2, "a: ", "x.nrrd"),
    "a path of 5000 letters": (f"{HEADING}a,{'x' * 5000}.nrrd,odd.nrrd\n", 2, "a: ", "x.nrrd"),
    "a path that leads out": (f"{HEADING}../../a,ref.nrrd,odd.nrrd\n", 0),
    "a formula": (f"{HEADING}=1+1,ref.nrrd,odd.nrrd\n", 0),
    "a case of two lines": (f'{HEADING}"a\nb",ref.nrrd,odd.nrrd\n', 0),
    "old line ends": (f"{HEADING}a,ref.nrrd,odd.nrrd\n".replace("\n", "\r"), 0),
}

LONG = "x" * 300
# Names of structures: as in the names of their files, and in the cells of tables.
NAMES = {
    "a/b\\c": ("a_b_c", "a/b\\c"),
    'a,b;"c"': ("a_b_c_2", 'a,b;"c"'),
    "O'Neil": ("O_Neil", "O'Neil"),
    "🫀👍": ("structure", "🫀👍"),
    "肺": ("肺", "肺"),
    LONG: (LONG[:80], LONG),
    f"{LONG}y": (f"{LONG[:80]}_2", f"{LONG}y"),
    "../../../../tmp/evil": ("tmp_evil", "../../../../tmp/evil"),
    "/etc/passwd": ("etc_passwd", "/etc/passwd"),
    "C:\\Windows\\x": ("C_Windows_x", "C:\\Windows\\x"),
    "CON": ("CON", "CON"),
    "con": ("con_2", "con"),
    "name:stream": ("name_stream", "name:stream"),
    "..": ("structure_2", ".."),
    "   ": ("structure_3", "   "),
    "--output": ("--output", "'--output"),
    "=cmd|' /C calc'!A0": ("cmd_C_calc_A0", "'=cmd|' /C calc'!A0"),
    "+1": ("1", "'+1"),
    "-1": ("-1", "'-1"),
    "@SUM(1)": ("SUM_1", "'@SUM(1)"),
    "\t=1": ("1_2", "'\t=1"),
    " =1": ("1_3", "' =1"),
    "\uff1d1": ("1_4", "'\uff1d1"),  # a wide equals sign
    "%s%n": ("s_n", "%s%n"),
    "{0.__class__}": ("0._class", "{0.__class__}"),
    "\x1b[31mred": ("31mred", "\x1b[31mred"),
    "\u202egnp.exe": ("gnp.exe", "\u202egnp.exe"),
    "<img src=x onerror=ran=1>": ("img_src_x_onerror_ran_1", "<img src=x onerror=ran=1>"),
    "</script><script>ran=2</script>": ("script_script_ran_2_script", "</script><script>ran=2</script>"),
    "'\"><svg onload=ran=3>": ("svg_onload_ran_3", "'\"><svg onload=ran=3>"),
    "&lt;b&gt;": ("lt_b_gt", "&lt;b&gt;"),
    # of any script: vowel signs belong to their letters, and some file systems ignore case or count bytes
    "A_2": ("A_2", "A_2"),
    "A": ("A", "A"),
    "a": ("a_3", "a"),
    "Ösophagus": ("Ösophagus", "Ösophagus"),
    "O\u0308sophagus": ("Ösophagus_2", "O\u0308sophagus"),
    "ösophagus": ("ösophagus_3", "ösophagus"),
    "हृदय (बायाँ)": ("हृदय_बायाँ", "हृदय (बायाँ)"),
    "肺" * 90: ("肺" * 66, "肺" * 90),
}


def withFile(name: str, option: str, content: bytes | str, outcome=()) -> Row:
    """Return the row of a file that is given by an option beside two good images."""

    file = "odd.json" if option == "--settings" else "odd.csv"

    def make(folder):
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        return save(SHIFTED, folder / "odd.nrrd")

    return Row(name, make, outcome, options=(option, f"in/{file}"), file=file)


ROWS = [
    *(withFile(f"settings of {name}", "--settings", *row) for name, row in SETTINGS.items()),
    *(withFile(f"a protocol of {name}", "--protocol", *row) for name, row in PROTOCOLS.items()),
]
