import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Pictures of journeys")
struct JourneyPictureTests {
    private static let journeys = """
        journeys:
          Loop:
            nodes:
              page: {type: UsernameCollectorNode, outcomes: {outcome: password}}
              password: {type: PasswordCollectorNode, outcomes: {outcome: check}}
              check: {type: DataStoreDecisionNode, outcomes: {true: success, false: attempts}}
              attempts: {type: RetryLimitDecisionNode, outcomes: {Retry: page, Reject: failure}}
        """

    private func tree(_ name: String = "Loop") throws -> JourneyTree {
        let tree = try ServerConfiguration(yaml: Self.journeys).journeys.trees.first { $0.name == name }
        return try #require(tree)
    }

    @Test("Nodes are in layers from left to right, and a retry goes back")
    func laysOutLayers() throws {
        let layout = JourneyLayout(try tree())
        let places = Dictionary(layout.boxes.map { ($0.id, $0.x) }, uniquingKeysWith: { first, _ in first })
        let ordered = ["page", "password", "check", "attempts"].compactMap { places[$0] }
        #expect(ordered.count == 4 && ordered == ordered.sorted() && Set(ordered).count == 4)
        let back = layout.lines.filter(\.goesBack)
        #expect(back.map(\.from) == ["attempts"] && back.map(\.to) == ["page"])
        #expect(places["success check"] == places["attempts"])
    }

    @Test(
        "Each journey of the starter file has a picture whose boxes do not overlap", arguments: Journeys.starter.trees.map(\.name)
    )
    func boxesDoNotOverlap(name: String) throws {
        let named = Journeys.starter.trees.first { $0.name == name }
        let tree = try #require(named)
        let layout = JourneyLayout(tree)
        #expect(Set(layout.boxes.map(\.id)).count == layout.boxes.count)
        #expect(Set(tree.nodes.keys).isSubset(of: layout.boxes.map(\.id)))
        for (index, box) in layout.boxes.enumerated() {
            #expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= layout.width && box.y + box.height <= layout.height)
            for other in layout.boxes[(index + 1)...] {
                let apart =
                    box.x + box.width <= other.x || other.x + other.width <= box.x || box.y + box.height <= other.y
                    || other.y + other.height <= box.y
                #expect(apart, "\(box.id) and \(other.id)")
            }
        }
    }

    @Test("The picture is well-formed XML with each node and outcome, and without styles and scripts")
    func drawsXML() throws {
        let svg = JourneyPicture(try tree()).svg
        var open: [String] = []
        for tag in svg.captures("<(/?)([a-z]+)[^>]*?(/?)>") {
            if tag[0] == "/" {
                let name = open.popLast()
                #expect(name == tag[1])
            } else if tag[2].isEmpty {
                open.append(tag[1])
            }
        }
        #expect(open.isEmpty)
        for part in ["data-node=\"check\"", "data-from=\"check\" data-to=\"attempts\"", "DataStoreDecisionNode", ">Retry<"] {
            #expect(svg.contains(part), "\(part)")
        }
        for part in ["<script", "<style", "style=", "href"] { #expect(!svg.contains(part), "\(part)") }
    }

    @Test("The administration API and the configuration have the picture of a journey by its name")
    func picturesByName() async throws {
        let configuration = try ServerConfiguration(yaml: Self.journeys)
        #expect(configuration.picture(ofJourney: "Loop")?.hasPrefix("<svg ") == true)
        #expect(configuration.picture(ofJourney: "Nothing") == nil)
        #expect(configuration.journeyNames == ["Loop"])
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let picture = try await server.admin(.get, "journeys/Login/graph")
            #expect(picture.status == 200 && picture.header("Content-Type") == "image/svg+xml; charset=UTF-8")
            #expect(try await server.admin(.get, "journeys/Nothing/graph").status == 404)
        }
    }
}
