import ArgumentParser
import SignetServer

extension JourneysCommand {
    struct Graph: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "graph",
            abstract: "Draw a journey as an SVG picture.",
            discussion: """
                The picture shows the nodes with their types, and where each outcome leads. The journeys are those that 'signet serve' \
                has with the same options: of a configuration file, of an export of AM, or of the starter file.

                EXAMPLES:
                  signet journeys graph Login > login.svg
                  signet journeys graph Login --config signet.yaml \\
                      > login.svg
                  signet journeys graph Login --import exports/ \\
                      > login.svg
                """)

        @Argument(help: "The name of the journey.")
        var journey: String

        @Option(help: "The configuration file; - for standard input. Otherwise the starter file.", completion: .file())
        var config: String?

        @OptionGroup var importOptions: JourneyImportOptions

        func run() throws {
            let configuration = try importOptions.configuration(config, usesTLS: false)
            guard let picture = configuration.picture(ofJourney: journey) else {
                let names = configuration.journeyNames.joined(separator: ", ")
                throw Failure(.notFound, "journey.notFound", "there is no journey \(journey); there are \(names)")
            }
            Console.bytes(Array(picture.utf8))
        }
    }
}
