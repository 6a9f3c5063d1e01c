#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

@Suite("The NV indices of an epoch in a TPM")
struct TPMEpochRangeTests {
    @Test("The NV indices are in the owner's range, a few for each vault, and different between vaults")
    func epochIndicesDifferByVault() {
        var all: Set<UInt32> = []
        for number in 0..<100 {
            let indices = TPMEpochRange(vault: "vault \(number)").indices
            let outside = indices.filter { !(0x0180_0000...0x01BF_FFFF).contains($0) }
            #expect(outside.isEmpty)
            all.formUnion(indices)
        }
        #expect(all.count > 390)
    }

    @Test("An NV index is marked with the epoch's base and its vault")
    func epochIndexIsMarked() {
        let range = TPMEpochRange(vault: "a")
        for base in [0, 1, 0xFFFF_FFFF_FFFF, UInt64.max] {
            #expect(range.base(ofMark: range.mark(base: base)) == base)
            #expect(TPMEpochRange(vault: "b").base(ofMark: range.mark(base: base)) == nil)
        }
        #expect(range.base(ofMark: []) == nil)
        #expect(range.password.last != 0)
    }

    @Test("An NV index holds 64 epochs, and its highest bit counts", arguments: [0, 7, 1 << 40, UInt64.max, UInt64.max - 3])
    func epochIndexHoldsSixtyFour(base: UInt64) {
        #expect(TPMEpochRange.epoch(base: base, bits: 0) == nil)
        #expect(TPMEpochRange.bit(for: base, base: base) == nil)
        #expect(TPMEpochRange.bit(for: base &+ 65, base: base) == nil)
        var bits: UInt64 = 0
        for epoch in (1...64).map({ base &+ $0 }) {
            let bit = TPMEpochRange.bit(for: epoch, base: base) ?? 0
            #expect(bit > bits)
            bits |= bit
            #expect(TPMEpochRange.epoch(base: base, bits: bits) == epoch)
            #expect(TPMEpochRange.epoch(base: base, bits: bit) == epoch)
        }
        #expect(bits == .max)
    }
}

@Suite("An epoch in a TPM", .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"))
struct TPMEpochTests {
    private let vault = "9D9C9C4E-0B0B-4E0D-8A7B-1B6F1C0D2E3F"

    private func indices(_ tpm: SoftwareTPM) async throws -> [String] {
        try await tpm.tool("tpm2_getcap", "handles-nv-index").split(separator: "\n").map { String($0.dropFirst(2)) }
    }

    @Test("A TPM epoch is absent at first, and only increases")
    func tpmEpochOnlyIncreases() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let before = try protector.epoch(ofVault: vault)
            #expect(before == nil)
            for epoch: UInt64 in [1, 2, 2, 3, 10] {
                try protector.remember(epoch: epoch, ofVault: vault)
                let known = try protector.epoch(ofVault: vault)
                #expect(known == epoch)
            }
            for lower: UInt64 in [9, 1, 0] {
                let error = failure { () throws(StoreError) in try protector.remember(epoch: lower, ofVault: vault) }
                #expect(error?.code == .rolledBack)
            }
            let known = try protector.epoch(ofVault: vault)
            #expect(known == 10)
            let inUse = try await tpm.handlesInUse()
            #expect(inUse.isEmpty)
        }
    }

    @Test("A TPM epoch is kept when the machine is switched off")
    func tpmEpochSurvivesRestart() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            try protector.remember(epoch: 5, ofVault: vault)
            try await tpm.restart()
            let known = try protector.epoch(ofVault: vault)
            #expect(known == 5)
        }
    }

    @Test("Each vault has its own TPM epoch, and deleting one keeps the other")
    func tpmEpochsAreSeparate() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            try protector.remember(epoch: 5, ofVault: "a")
            try protector.remember(epoch: 1, ofVault: "b")
            try protector.forgetEpoch(ofVault: "a")
            let known = (try protector.epoch(ofVault: "a"), try protector.epoch(ofVault: "b"))
            #expect(known == (nil, 1))
            try protector.forgetEpoch(ofVault: "b")
            try protector.forgetEpoch(ofVault: "b")
            let left = try await indices(tpm)
            #expect(left.isEmpty)
        }
    }

    @Test("A TPM epoch uses one NV index, however high it rises")
    func tpmEpochUsesOneIndex() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            for epoch in Array(1...150) + [1000, 1001, .max - 1, .max] as [UInt64] {
                try protector.remember(epoch: epoch, ofVault: vault)
                let known = try protector.epoch(ofVault: vault)
                #expect(known == epoch)
            }
            let found = try await indices(tpm)
            #expect(found.count == 1)
        }
    }

    @Test("A TPM epoch skips an NV index that another program uses, and never changes that one")
    func tpmEpochSkipsUsedIndex() async throws {
        try await SoftwareTPM.with { tpm in
            let first = "0x" + String(TPMEpochRange(vault: vault).indices[0], radix: 16)
            _ = try await tpm.tool("tpm2_nvdefine", first, "-C", "owner", "-s", "8", "-a", "nt=bits|ownerread|ownerwrite")
            let protector = TPMProtector(tcti: tpm.tcti)
            for epoch in 1...70 as ClosedRange<UInt64> { try protector.remember(epoch: epoch, ofVault: vault) }
            let known = try protector.epoch(ofVault: vault)
            #expect(known == 70)
            try protector.forgetEpoch(ofVault: vault)
            let left = try await indices(tpm)
            #expect(left.count == 1)
            let attributes = try await tpm.tool("tpm2_nvreadpublic", first)
            #expect(attributes.contains("ownerread"))
        }
    }

    @Test("A TPM epoch fails with full when all its NV indices are in use")
    func tpmEpochReportsFull() async throws {
        try await SoftwareTPM.with { tpm in
            for index in TPMEpochRange(vault: vault).indices {
                _ = try await tpm.tool(
                    "tpm2_nvdefine", "0x" + String(index, radix: 16), "-C", "owner", "-s", "8", "-a", "ownerread|ownerwrite")
            }
            let protector = TPMProtector(tcti: tpm.tcti)
            let error = failure { () throws(StoreError) in try protector.remember(epoch: 1, ofVault: vault) }
            #expect(error?.code == .full)
        }
    }

    @Test("A TPM epoch whose first write was interrupted is absent, and can be written again")
    func tpmEpochSurvivesInterruptedWrite() async throws {
        try await SoftwareTPM.with { tpm in
            try await TemporaryDirectory.with { directory in
                let range = TPMEpochRange(vault: vault)
                try PrivateFile.create(directory.file("mark"), containing: range.mark(base: 6))
                _ = try await tpm.tool(
                    "tpm2_nvdefine", "0x" + String(range.indices[0], radix: 16), "-C", "owner", "-s", "8", "-L",
                    directory.file("mark"), "-a", "nt=bits|authread|authwrite|no_da", "-p",
                    "hex:" + range.password.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
                let protector = TPMProtector(tcti: tpm.tcti)
                let before = try protector.epoch(ofVault: vault)
                #expect(before == nil)
                try protector.remember(epoch: 7, ofVault: vault)
                let known = try protector.epoch(ofVault: vault)
                #expect(known == 7)
                let found = try await indices(tpm)
                #expect(found.count == 1)
            }
        }
    }

    @Test("A process that does not know the vault's id cannot set its TPM epoch")
    func tpmEpochRequiresVaultID() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            try protector.remember(epoch: 1, ofVault: vault)
            let index = try #require(try await indices(tpm).first)
            await #expect(throws: CannotStart.self) {
                _ = try await tpm.tool("tpm2_nvsetbits", index, "-C", index, "-i", "0xff")
            }
            let known = try protector.epoch(ofVault: vault)
            #expect(known == 1)
        }
    }

    @Test("A TPM epoch needs the owner's password only to define its NV index")
    func tpmEpochNeedsOwnerPasswordOnce() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            _ = try protector.wrap(Secret([1]), context: [])
            try protector.remember(epoch: 1, ofVault: vault)
            _ = try await tpm.tool("tpm2_changeauth", "-c", "owner", "harbor")
            try protector.remember(epoch: 2, ofVault: vault)
            let known = try protector.epoch(ofVault: vault)
            #expect(known == 2)
            let error = failure { () throws(StoreError) in try protector.remember(epoch: 1, ofVault: "another") }
            #expect(error?.code == .denied)
        }
    }
}
#endif
