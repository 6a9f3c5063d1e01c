import SignetCore
import SignetJourney

/// The lines of `signet devices`: kind, name, time and ID, in columns.
struct DeviceTable {
    private let devices: [UserDevice]

    /// Creates the table of some devices.
    init(_ devices: [UserDevice]) { self.devices = devices }

    /// One line for each device, in which the texts of the server are escaped.
    var lines: [TerminalText] {
        let rows = devices.map { device in
            [device.kind.rawValue, TerminalText(device.name).description, device.time, TerminalText(device.id).description]
        }
        let widths = (0..<3).map { column in rows.map { $0[column].displayWidth }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0.filling($1) } + [row[3]]
            // The cells are escaped already.
            return TerminalText(verbatim: cells.joined(separator: "  "))
        }
    }
}

extension UserDevice {
    /// The kind and the name, for messages.
    var title: TerminalText { "\(kind.rawValue) device '\(name)'" }

    /// The time of the last use, or else of the registration; empty when the server sent neither.
    fileprivate var time: String {
        lastUsedAt.map { "used \($0.text)" } ?? createdAt.map { "registered \($0.text)" } ?? ""
    }

    /// The device in the output of `--json`.
    var json: JSONValue {
        let place = location.map { place -> JSONValue in
            .object(["latitude": .number(place.latitude), "longitude": .number(place.longitude)])
        }
        return JSONText.object([
            "kind": .string(kind.rawValue), "id": .string(id), "name": .string(name), "uuid": .string(uuid),
            "createdAt": .string(createdAt?.text), "lastUsedAt": .string(lastUsedAt?.text), "deviceId": .string(deviceID),
            "credentialId": .string(credentialID), "identifier": .string(identifier),
            "metadata": metadata.isEmpty ? nil : .object(metadata), "location": place,
        ])
    }
}
