import SignetCore
import TestSupport
import Testing

@Suite("signet serve --openapi")
struct ServeOpenAPITests {
    @Test("The option --openapi prints the OpenAPI document of the administration API")
    func printsOpenAPIDocument() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("serve", "--openapi").succeeds()
            let document = try JSON.value(of: outcome.output.utf8)
            #expect(document["openapi"] == "3.1.0" && document["paths"]?["/clock/advance"]?["post"] != nil)
            #expect(document["servers"]?.array?.first?["url"] == "http://127.0.0.1:8080/am/admin")
            try await cli.signet("serve", "--openapi", "--schema").fails(64, "exclude")
        }
    }
}
