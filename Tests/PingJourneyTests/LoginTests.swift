import Foundation
import PingJourney
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

/// A storage of an app, as the document on custom storage has it.
private final class CustomStorage<T: Codable>: Storage {
    private var data: T?

    func save(item: T) async throws { data = item }
    func get() async throws -> T? { data }
    func delete() async throws { data = nil }
}

private final class CustomStorageDelegate<T: Codable>: StorageDelegate<T> {
    init(cacheable: Bool = false) { super.init(delegate: CustomStorage<T>(), cacheable: cacheable) }
}

@Suite("Journeys under the Ping SDK's names")
struct LoginTests {
    @Test("A login gives a session, tokens, the claims about the user, and ends with the log-out")
    func logsInAndOut() async throws {
        try await JourneyFixture.with { machine in
            let journey = machine.journey()
            let before = await journey.journeyUser()
            #expect(before == nil)
            let success = try #require(try await logIn(journey) as? SuccessNode)
            #expect(!success.session.value.isEmpty && success.session is SSOTokenImpl)
            #expect(success.input["successUrl"] is String)

            let user = try #require(await journey.journeyUser())
            #expect(user.session?.value == success.session.value)
            let token = try await user.token().get()
            #expect(token.tokenType == "Bearer" && token.refreshToken != nil && token.idToken != nil && token.expiresIn == 600)
            let again = try await user.token().get()
            #expect(again.accessToken == token.accessToken)
            let claims = try await user.userinfo().get()
            #expect(claims["name"] as? String == "Demo Person" && claims["sub"] is String)

            let refreshed = try await user.refresh().get()
            #expect(refreshed.accessToken != token.accessToken)
            machine.clock.advance(by: 601)
            let renewed = try await user.token().get()
            #expect(renewed.accessToken != refreshed.accessToken)
            let accepted = try await machine.status(of: renewed)
            #expect(accepted == 200)

            await user.logout()
            let (ended, rejected) = (await journey.session(), try await machine.status(of: renewed))
            #expect(ended == nil && rejected == 401)
            let after = await journey.journeyUser()
            #expect(after == nil)
        }
    }

    @Test("Each request states the SDK, and the requests of a logged-in user contain the session")
    func sendsIdentification() async throws {
        try await JourneyFixture.with { machine in
            let journey = machine.journey()
            let success = try #require(try await logIn(journey) as? SuccessNode)
            _ = try await (try #require(await journey.journeyUser())).token().get()
            let requests = machine.network.requests
            let names = requests.map { $0.headers.all("X-Requested-With") + $0.headers.all("x-requested-platform") }
            #expect(!names.isEmpty && Set(names) == [["ping-sdk", "ios"]])
            machine.network.clear()
            let second = await journey.start("Login")
            #expect((second as? SuccessNode)?.session.value == success.session.value)
            #expect(machine.network.requests.first?.headers["iPlanetDirectoryPro"] == success.session.value)
        }
    }

    @Test("The vault keeps the session and the tokens for the next start of the app")
    func keepsSessionInVault() async throws {
        try await JourneyFixture.with { machine in
            let first = machine.journey()
            _ = try await logIn(first)
            let token = try await (try #require(await first.journeyUser())).token().get()
            machine.network.clear()
            let second = try #require(await machine.journey().journeyUser())
            let stored = try await second.token().get()
            #expect(stored.accessToken == token.accessToken && machine.network.requests.isEmpty)
        }
    }

    @Test("An app's own storages hold the session and the tokens")
    func usesStoragesOfApp() async throws {
        try await JourneyFixture.with { machine in
            let (sessions, tokens) = (MemoryStorage<SSOTokenImpl>(), MemoryStorage<Token>())
            let journey = machine.journey { config in
                config.module(SessionModule.config) { $0.storage = sessions }
                config.module(PingJourney.OidcModule.config) { oidc in
                    machine.configureClient(oidc)
                    oidc.storage = tokens
                }
            }
            let success = try #require(try await logIn(journey) as? SuccessNode)
            let token = try await (try #require(await journey.journeyUser())).token().get()
            let (session, stored) = (try await sessions.get(), try await tokens.get())
            #expect(session?.value == success.session.value && session?.realm == "/alpha")
            #expect(stored?.accessToken == token.accessToken && stored?.expiresIn == 600)
            let other = await machine.journey().session()
            #expect(other == nil)

            guard case .success = await journey.journeySignOff() else { throw Unexpected() }
            let (noSession, noToken) = (try await sessions.get(), try await tokens.get())
            #expect(noSession == nil && noToken == nil)
        }
    }

    @Test("The custom storage classes of the document work for the session, the tokens and the cookies")
    func usesDocumentedStorageClasses() async throws {
        try await JourneyFixture.with { machine in
            let journey = machine.journey { config in
                config.module(SessionModule.config) { $0.storage = CustomStorageDelegate<SSOTokenImpl>() }
                config.module(PingJourney.OidcModule.config) { oidc in
                    machine.configureClient(oidc)
                    oidc.storage = CustomStorageDelegate<Token>(cacheable: true)
                }
                config.module(CookieModule.config) { cookies in
                    cookies.persist = ["iPlanetDirectoryPro"]
                    cookies.cookieStorage = CustomStorageDelegate<[CustomHTTPCookie]>()
                }
            }
            _ = try await logIn(journey)
            let token = await journey.journeyUser()?.token()
            #expect((try? token?.get()) != nil)
            await journey.journeyUser()?.revoke()
            let session = await journey.session()
            #expect(session != nil)
            await journey.deleteSession()
            let deleted = await journey.session()
            #expect(deleted == nil)
        }
    }

    @Test("A journey without a session ends with an empty one and stores nothing")
    func endsPingJourneyWithoutSession() async throws {
        try await JourneyFixture.with { machine in
            let journey = machine.journey()
            let end = try await logIn(journey) { $0.noSession = true }
            let success = try #require(end as? SuccessNode)
            #expect(success.session.value.isEmpty)
            let (session, isAsked) = (await journey.session(), machine.network.requests.map { $0.url.contains("noSession=true") })
            #expect(session == nil && isAsked == [true, true])
        }
    }

    @Test("A wrong password is an error of the server, and the next attempt can succeed")
    func succeedsAfterWrongPassword() async throws {
        try await JourneyFixture.with { machine in
            let journey = machine.journey()
            let error = try #require(try await logIn(journey, password: "wrong") as? ErrorNode)
            #expect(error.status == 401 && !error.message.isEmpty && error.input["code"] as? Int == 401)
            let second = try await logIn(journey)
            #expect(second is SuccessNode)
        }
    }

    @Test("Failures of the network and of settings are failure states, and the log-out removes everything without a network")
    func reportsFailures() async throws {
        try await JourneyFixture.with { machine in
            let journey = machine.journey()
            _ = try await logIn(journey)
            let link = try #require(URL(string: "https://am.example.com/am?realm=/alpha"))
            let resumed = try #require(await journey.resume(link) as? FailureNode)
            guard case ApiError.error(400, _, _) = resumed.cause else { throw Unexpected() }

            machine.network.cut()
            let failure = try #require(await journey.start("Login") as? FailureNode)
            #expect(failure.cause is TransportError)
            let token = await journey.journeyUser()?.token()
            guard case .failure(.networkError) = token else { throw Unexpected() }
            guard case .failure = await journey.journeySignOff() else { throw Unexpected() }
            let session = await journey.session()
            #expect(session == nil)
        }
    }

    @Test("Plain http to another machine is refused with the name of the setting that allows it")
    func namesSettingForPlainHTTP() async throws {
        let refusing = Journey.createJourney { config in
            config.serverUrl = "http://am.example.com/am"
            config.logger = LogManager.none
        }
        let failure = try #require(await refusing.start("Login") as? FailureNode)
        #expect("\(failure.cause)".contains("config.plainHTTPHosts"))
        let empty = try #require(await Journey.createJourney().start("Login") as? FailureNode)
        #expect("\(empty.cause)".contains("url"))
    }

    @Test("A module of the app sees each step of a journey and changes its requests")
    func runsModuleOfApp() async throws {
        try await JourneyFixture.with { machine in
            let log = EventLog()
            let module = Module.of(setup: { setup in
                setup.initialize { log.record("initialize") }
                setup.start { _, request in
                    log.record("start")
                    request.header(name: "x-app", value: "1")
                    return request
                }
                setup.next { _, node, request in
                    log.record("next \(node.callbacks.count)")
                    request.parameter(name: "app", value: "a b")
                    return request
                }
                setup.response { _, response in log.record("response \(response.status())") }
                setup.success { _, success in
                    log.record("success")
                    return success
                }
                setup.signOff { request in
                    log.record("signOff")
                    return request
                }
            })
            let journey = machine.journey { config in
                config.module(module)
                config.module(CustomHeader.config) { $0.header(name: "x-tenant", value: "one") }
            }
            _ = try await logIn(journey)
            _ = await journey.journeySignOff()
            #expect(log.all == ["initialize", "start", "response 200", "next 2", "response 200", "success", "signOff"])
            let requests = machine.network.requests.filter { $0.url.contains("/authenticate") }
            let tenants = requests.map { $0.headers["x-tenant"] }
            #expect(tenants == ["one", "one"])
            #expect(requests.first?.headers["x-app"] == "1" && requests.last?.url.contains("app=a%20b") == true)
        }
    }
}
