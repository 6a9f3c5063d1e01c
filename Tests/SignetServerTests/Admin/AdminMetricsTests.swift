import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Metrics in the text format of Prometheus")
struct AdminMetricsTests {
    private func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }, body)
    }

    /// Returns the value of a time series.
    private func value(_ series: String, _ text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("\(series) ") }.map { String($0.dropFirst(series.count + 1)) }
    }

    @Test("Requests, logins, tokens, sessions, push messages, faults and writes are counted")
    func countsEvents() async throws {
        try await run { server in
            _ = try await server.logIn("Login", password: "wrong")
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(push, at: server).status == 200)
            _ = try await server.refresh(try #require(try await server.tokens().refresh))
            try server.devServer.faults.enable(FaultRule(.status(503), at: "keys", .times(2)))
            for _ in 0..<3 { _ = try await server.send(.get, "\(TestServer.oauth)/connect/jwk_uri", headers: [:]) }
            let reply = try await server.admin(.get, "metrics")
            #expect(reply.status == 200 && reply.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
            let text = reply.text
            #expect(value(#"signet_logins_total{journey="Login",outcome="failure"}"#, text) == "1")
            #expect(value(#"signet_logins_total{journey="PushRegistration",outcome="success"}"#, text) == "1")
            #expect(value(#"signet_pushes_total{event="sent"}"#, text) == "1")
            #expect(value(#"signet_pushes_total{event="approved"}"#, text) == "1")
            #expect(value(#"signet_tokens_total{grant="refresh_token"}"#, text) == "1")
            #expect(value(#"signet_faults_fired_total{kind="status"}"#, text) == "2")
            #expect(value("signet_sessions", text) == "2" && value("signet_access_tokens", text) == "2")
            #expect(value("signet_refresh_tokens", text) == "2")
            let commits = value("signet_store_commits_total", text).flatMap { Int($0) } ?? 0
            #expect(commits > 5)
            let keys = #"http_request_method="GET",http_route="/oauth2/connect/jwk_uri",http_response_status_code="503""#
            #expect(value("http_server_request_duration_seconds_count{\(keys)}", text) == "2")
            #expect(value(#"http_server_request_duration_seconds_bucket{\#(keys),le="+Inf"}"#, text) == "2")
            #expect(!text.contains("mira") && !text.contains("phone-1"))
        }
    }

    @Test("The text has one type for each metric, in front of its series, and buckets that grow")
    func hasValidFormat() async throws {
        try await run { server in
            _ = try await server.session()
            let lines = try await server.admin(.get, "metrics").text.split(separator: "\n").map(String.init)
            var types: [String: String] = [:]
            var last: (series: String, count: Int) = ("", 0)
            for line in lines where !line.hasPrefix("# HELP ") {
                if line.hasPrefix("# TYPE ") {
                    let parts = line.split(separator: " ")
                    #expect(types[String(parts[2])] == nil, "\(line)")
                    types[String(parts[2])] = String(parts[3])
                    continue
                }
                let name = String(line.prefix { $0 != "{" && $0 != " " })
                let family =
                    ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) && types[name] == nil }
                    .map { String(name.dropLast($0.count)) } ?? name
                #expect(types[family] != nil, "\(line)")
                #expect(Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
                guard name.hasSuffix("_bucket"), let bound = line.firstRange(of: "le=") else { continue }
                let (series, count) = (String(line[..<bound.lowerBound]), Int(line.split(separator: " ").last ?? "") ?? -1)
                #expect(series != last.series || count >= last.count, "\(line)")
                last = (series, count)
            }
            #expect(types["signet_logins_total"] == "counter" && types["signet_sessions"] == "gauge")
            #expect(types["http_server_request_duration_seconds"] == "histogram")
        }
    }

    @Test("Labels are escaped, and durations are in the bucket of their bound")
    func writesLabelsAndBuckets() {
        let registry = MetricsRegistry()
        registry.count("a.b", [("x.y", "1\"\\\n")])
        for milliseconds in [1, 2, 20_000] { registry.observe("d", [], .milliseconds(milliseconds)) }
        var text = PrometheusText()
        registry.write(to: &text)
        #expect(text.text.contains(#"a_b_total{x_y="1\"\\\n"} 1"#))
        #expect(text.text.contains(#"d_seconds_bucket{le="0.001"} 1"#))
        #expect(text.text.contains(#"d_seconds_bucket{le="0.0025"} 2"#))
        #expect(text.text.contains(#"d_seconds_bucket{le="10"} 2"#) && text.text.contains(#"d_seconds_bucket{le="+Inf"} 3"#))
        #expect(text.text.contains("d_seconds_sum 20.003\n") && text.text.contains("d_seconds_count 3\n"))
    }

    @Test("Without the administration API the server keeps no metrics of its own")
    func keepsNothingWithoutAPI() async throws {
        try await TestServer.run { server in
            let isRecording = server.devServer.context.telemetry.registry != nil
            let reply = try await server.send(.get, "/am/admin/metrics", headers: [:])
            #expect(!isRecording && reply.status == 404)
        }
    }
}
