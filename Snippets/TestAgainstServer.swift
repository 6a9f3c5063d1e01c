// A server for a test: break it, move its clock, and look what the app asked of it.
import SignetCore
import SignetServer

// snippet.hide
func testAgainstServer(_ configuration: ServerConfiguration, useApp: (_ url: String) async throws -> Void) async throws {
    // snippet.show
    try await withServer(configuration) { server in
        try server.faults.enable(FaultRule(.status(503, retryAfter: 1), at: "accessToken", .times(2)))
        server.clock.advance(by: .seconds(3600))

        try await useApp(server.url)

        let asked = try await server.waitForEntry(matching: RequestLogFilter { $0.resource = "accessToken" })
        precondition(asked.request?["grant_type"] == "authorization_code" && asked.faults == ["status"])
        precondition(server.requestLog(matching: RequestLogFilter { $0.fault = "status" }).count == 2)
    }
    // snippet.hide
}
