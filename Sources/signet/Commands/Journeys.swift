import ArgumentParser
import SignetServer

struct JourneysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journeys", abstract: "Convert the journeys of an AM server for 'signet serve', and draw journeys.",
        discussion: """
            EXAMPLES:
              signet journeys convert exports/
              signet journeys convert --to-yaml exports/ > signet.yaml
            """,
        subcommands: [Convert.self, Graph.self])

    struct Convert: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "convert",
            abstract: "Report which journeys of an export can run here, or print them as a configuration file.",
            discussion: """
                Reads the files of frodo and Amster, and the JSON of AM's REST: journeys with their inner journeys, nodes and \
                scripts. Symbolic links, and files that do not end in .json, are not read from a directory. Each line of the report \
                names a file and the place in it, as a JSON Pointer: a 'stub' is a node that cannot run, a 'warning' can make a \
                login different from AM's, and a 'note' has no effect. 'signet serve --import' serves the same journeys without \
                a file.

                EXAMPLES:
                  signet journeys convert Login.journey.json
                  signet journeys convert --json exports/
                  signet journeys convert --to-yaml exports/ > signet.yaml
                  signet serve --config signet.yaml
                """)

        @Argument(
            help: "A file of frodo or Amster, an answer of AM's REST, or a directory with such files.", completion: .file())
        var path: String

        @Flag(
            name: .customLong("to-yaml"),
            help:
                "Print a file for 'signet serve --config', with the users of the starter file; the report goes to standard error."
        )
        var toYAML = false

        @OptionGroup var stubOptions: StubOptions

        @Flag(help: "Print the report as JSON: journeys, findings.")
        var json = false

        func run() throws {
            let imported = try stubOptions.journeys(at: path)
            let description = JourneyImportDescription(imported)
            let report = json ? [JSONText.line(description.json)] : description.lines
            guard toYAML else { return report.forEach(Console.line) }
            Console.bytes(Array(imported.yaml.utf8))
            report.forEach(Console.error)
        }
    }
}
