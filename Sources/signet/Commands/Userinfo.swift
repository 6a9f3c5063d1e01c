import ArgumentParser
import SignetCore
import SignetJourney
import SignetOAuth

struct Userinfo: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "userinfo", abstract: "Print the claims of the logged-in user.",
        discussion: """
            Asks the server's userinfo endpoint with the access token, which is renewed first if it is about to end.

            EXAMPLES:
              signet userinfo
              signet userinfo --json
            """)

    @OptionGroup var profile: ProfileOptions

    @Flag(help: "Print the server's claims as one line of JSON.")
    var json = false

    func run() async throws {
        let (session, profile) = try profile.open()
        let claims = try await profile.use(session) { client in try await client.userInfo().claims }
        guard !json else { return Console.line(JSONText.line(.object(claims))) }
        for (name, value) in claims.sorted(by: { $0.key < $1.key }) {
            Console.line("\(name): \(value.string.map { TerminalText($0) } ?? JSONText.line(value))")
        }
    }
}
