"""The README tells the truth: its table is the program's, its commands exist."""

import re
import unittest

from tool import SOURCE, ToolTest

VERBS = {"info", "list", "dump", "build", "check", "convert", "edit", "sample", "extract", "pack", "formats"}


class Readme(ToolTest):
    def test_the_support_table_is_the_programs(self):
        readme = (SOURCE / "README.md").read_text()
        table = re.search(r"<!-- formats -->\n(.*)<!-- /formats -->", readme, re.S).group(1)
        out, _ = self.run_tool("formats", "--markdown")
        self.assertEqual(table, out.decode())

    def test_its_commands_exist(self):
        readme = (SOURCE / "README.md").read_text()
        commands = re.findall(r"^\$ (.+?)(?:\s+#.*)?$", readme, re.M)
        self.assertGreater(len(commands), 5)
        for command in commands:
            words = command.split()
            if words[0] == "dopesheet":
                self.assertIn(words[1], VERBS)
                out, _ = self.run_tool(words[1], "--help")
                for option in re.findall(r"--[a-z-]+", command):
                    self.assertIn(option, out.decode(), command)
            else:
                self.assertTrue((SOURCE / words[0]).exists(), command)

    def test_its_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([^)#]+)\)", (SOURCE / "README.md").read_text()):
            self.assertTrue((SOURCE / target).exists(), target)

    def test_every_check_code_is_documented(self):
        for fmt, prefix in (("rfa", "rfa"), ("v3c", "v3c"), ("motn", "motn"), ("totemtech", "tt"), ("zouna", "zn")):
            docs = (SOURCE / "docs" / "formats" / f"{fmt}.md").read_text()
            code = (SOURCE / "src" / "codecs" / f"{fmt}_check.cpp").read_text()
            codes = set(re.findall(rf'"({prefix}-[a-z-]+)"', code))
            self.assertGreater(len(codes), 10)
            self.assertEqual({c for c in codes if f"`{c}`" not in docs}, set(), fmt)


if __name__ == "__main__":
    unittest.main()
